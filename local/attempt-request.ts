interface Attempt {
  readonly platformUrl: string;
  readonly tenantId: string;
  /** The credential of the platform's own player. */
  readonly playerToken: string;
  readonly deliverySessionId: string;
  readonly correct: boolean;
}

/** Returns the request with which the platform's own player hands an answer to QTI, as arguments of `fetch` [MA-030]. */
export function attemptRequest(attempt: Attempt): [url: string, init: RequestInit] {
  const tenant = encodeURIComponent(attempt.tenantId);
  const session = encodeURIComponent(attempt.deliverySessionId);
  return [
    `${attempt.platformUrl}/tenants/${tenant}/qti/delivery-sessions/${session}/attempts`,
    {
      method: 'POST',
      headers: { Authorization: `Bearer ${attempt.playerToken}`, 'Content-Type': 'application/json' },
      body: JSON.stringify({ outcomes: { SCORE: attempt.correct ? 1 : 0 } }),
    },
  ];
}
