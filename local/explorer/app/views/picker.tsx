import type { JSX } from 'preact';
import { useId } from 'preact/hooks';
import { Choice } from '../parts.tsx';
import { choose } from '../router.ts';
import { reload } from '../store.ts';

interface PickerProps {
  readonly label: string;
  readonly value: string;
  readonly fixtures: readonly (readonly [words: string, id: string])[];
}

/** Chooses the `id` of the address: one of the seeded ids, or any other one. */
export function Picker({ label, value, fixtures }: PickerProps): JSX.Element {
  const id = useId();
  const known = fixtures.find(([, fixture]) => fixture === value);
  return (
    <form
      class="picker"
      onSubmit={(event) => {
        event.preventDefault();
        const typed = new FormData(event.currentTarget).get('id');
        if (typeof typed !== 'string' || typed.trim() === '') return;
        if (typed.trim() === value) reload();
        else choose({ id: typed.trim() });
      }}
    >
      <Choice
        label={label}
        value={known?.[1] ?? ''}
        options={[
          ...fixtures.map(([words, fixture]) => [fixture, words] as const),
          ...(known === undefined ? [['', 'other id'] as const] : []),
        ]}
        onChange={(chosen) => {
          if (chosen !== '') choose({ id: chosen });
        }}
      />
      <details>
        <summary>Another one, by its id</summary>
        <span class="choice">
          <label for={id}>Id</label>
          <input id={id} name="id" key={value} defaultValue={value} autocomplete="off" spellcheck={false} />
        </span>
      </details>
      <button type="submit">Show</button>
    </form>
  );
}
