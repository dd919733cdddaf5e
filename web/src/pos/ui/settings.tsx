import { useEffect, useRef } from 'react';
import { currenciesOf } from '../../shared/currencies.ts';
import { clamp } from '../../shared/text.ts';
import type { Pos } from '../pos.ts';
import type { PosView } from '../pos-state.ts';
import { usePageState, useWords } from './words.ts';

interface SettingsProps {
  readonly pos: Pos;
  readonly view: PosView;
  readonly onClose: () => void;
}

export function Settings({ pos, view, onClose }: SettingsProps) {
  const words = useWords();
  const { mode, currencies: codes } = view.kept.place ?? {};
  const currencies = currenciesOf(usePageState().currencies, mode, codes);
  const ref = useRef<HTMLDialogElement>(null);
  useEffect(() => ref.current?.showModal(), []);
  return (
    <dialog ref={ref} className="settings" aria-labelledby="settings-title" onClose={onClose}>
      <h2 id="settings-title">{words.settings}</h2>
      {view.person !== null && (
        <p className="soft">
          <bdi>{clamp(view.person.name, 60)}</bdi>
        </p>
      )}
      <label className="choice">
        <span>{words.currency}</span>
        <select
          value={view.kept.currency}
          disabled={view.kept.open !== null}
          onChange={(event) => pos.choose({ currency: event.target.value })}
        >
          {currencies.map(({ code }) => (
            <option key={code}>{code}</option>
          ))}
        </select>
      </label>
      <button
        type="button"
        className="quiet wide"
        disabled={view.kept.open !== null}
        onClick={() => {
          onClose();
          void pos.signOut();
        }}
      >
        {words.signOut}
      </button>
      <button type="button" className="main wide" onClick={onClose}>
        {words.close}
      </button>
    </dialog>
  );
}
