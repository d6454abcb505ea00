import http from 'node:http';

// Keeps calls to this machine away from a proxy (NODE_USE_ENV_PROXY), of this process and of those that it starts.

const own = ['127.0.0.1', 'localhost', '[::1]'];
const given = process.env.no_proxy ?? process.env.NO_PROXY ?? '';
if (given !== '*') {
  const hosts = new Set([...given.split(/[\s,]+/).filter((host) => host !== ''), ...own]);
  process.env.NO_PROXY = process.env.no_proxy = [...hosts].join(',');
  // Node has read the variables already.
  if (process.env.NODE_USE_ENV_PROXY === '1') http.setGlobalProxyFromEnv?.();
}
