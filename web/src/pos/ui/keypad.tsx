import { useEffect, useState } from 'react';
import { fill } from '../../shared/text.ts';
import { percentOf, TIPS, tipOf, totalOf } from '../kept.ts';
import type { Pos } from '../pos.ts';
import type { PosView } from '../pos-state.ts';
import { paidSignal } from '../signal.ts';
import { useMoney, useWords } from './words.ts';

const KEYS = ['1', '2', '3', '4', '5', '6', '7', '8', '9', '00', '0'] as const;
/** The largest number of digits: 9,999,999.99 in most currencies. */
const MAX_DIGITS = 9;

/** The keypad for an amount. Digits are entered from the right, as on a cash register: 1, 2, 5, 0 is 12.50. */
export function Keypad({ pos, view }: { readonly pos: Pos; readonly view: PosView }) {
  const words = useWords();
  const money = useMoney();
  const { currency } = view.kept;
  // The amounts of a refused order are kept, so that the cashier can choose another currency.
  const refused = view.problem?.kind === 'refused' ? view.problem.order : undefined;
  const [amount, setAmount] = useState(refused?.amount ?? '0');
  const [percent, setPercent] = useState(percentOf(amount, refused?.tip ?? '0'));
  const tip = tipOf(amount, percent);
  const total = totalOf({ amount, tip });
  const type = (digits: string) =>
    setAmount((before) => {
      const after = (before + digits).replace(/^0+(?=\d)/, '');
      return after.length > MAX_DIGITS ? before : after;
    });
  const erase = () => setAmount((before) => before.slice(0, -1) || '0');
  const charge = () => {
    if (total === '0') return;
    paidSignal.prepare();
    pos.charge(amount, tip);
  };
  useKeys({ type, erase, charge });
  return (
    <section className="keypad" aria-label={words.title}>
      <output className="typed">
        <bdi>{money(amount, currency)}</bdi>
        {tip !== '0' && (
          <span className="typed-tip">
            {words.tip} <bdi>{money(tip, currency)}</bdi>
          </span>
        )}
      </output>
      {view.problem?.kind === 'refused' && (
        <p className="problem" role="alert">
          {view.problem.message}
        </p>
      )}
      {view.problem?.kind === 'storage' && (
        <p className="problem" role="alert">
          {words.storageProblem}
        </p>
      )}
      <fieldset className="tips">
        <legend className="unseen">{words.tip}</legend>
        {TIPS.map((each) => (
          <label key={each}>
            <input type="radio" name="tip" checked={each === percent} onChange={() => setPercent(each)} />
            <span>{each === 0 ? words.noTip : `${each} %`}</span>
          </label>
        ))}
      </fieldset>
      <div className="keys">
        {KEYS.map((key) => (
          <button key={key} type="button" className="key" onClick={() => type(key)}>
            {key}
          </button>
        ))}
        <button type="button" className="key" onClick={erase} aria-label={words.delete}>
          ⌫
        </button>
      </div>
      <button type="button" className="main charge" disabled={total === '0'} onClick={charge}>
        {fill(words.charge, { amount: money(total, currency) })}
      </button>
    </section>
  );
}

interface Presses {
  readonly type: (digits: string) => void;
  readonly erase: () => void;
  readonly charge: () => void;
}

function useKeys({ type, erase, charge }: Presses): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const isElsewhere = event.target instanceof Element && event.target.closest('dialog, select') !== null;
      if (event.metaKey || event.ctrlKey || event.altKey || isElsewhere) return;
      const isOnButton = event.target instanceof HTMLButtonElement;
      if (/^[0-9]$/.test(event.key)) type(event.key);
      else if (event.key === 'Backspace') erase();
      else if (event.key === 'Enter' && !isOnButton) charge();
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, [type, erase, charge]);
}
