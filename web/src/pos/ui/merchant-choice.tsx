import { useEffect, useState } from 'react';
import { clamp } from '../../shared/text.ts';
import { ask, type Mode } from '../gateway.ts';
import type { Pos } from '../pos.ts';
import type { PosView } from '../pos-state.ts';
import { Message } from './message.tsx';
import { useWords } from './words.ts';

interface Merchant {
  readonly id: string;
  readonly name: string;
}

/** The choice of a merchant, for a person of a whole partner. */
export function MerchantChoice({ pos, view }: { readonly pos: Pos; readonly view: PosView }) {
  const words = useWords();
  const mayRead = view.person?.rights.includes('merchants:read') ?? false;
  const [mode] = view.person?.modes.toReversed() ?? [];
  const merchants = useMerchants(mayRead ? mode : undefined);
  return (
    <Message title={words.noMerchantTitle}>
      {!mayRead && <p>{words.noMerchantText}</p>}
      <ul className="merchants">
        {merchants.map(({ id, name }) => (
          <li key={id}>
            <button
              type="button"
              className="quiet wide"
              onClick={() => mode && pos.choose({ place: { merchantId: id, merchantName: name, mode } })}
            >
              <bdi>{clamp(name, 60)}</bdi>
            </button>
          </li>
        ))}
      </ul>
    </Message>
  );
}

function useMerchants(mode: Mode | undefined): readonly Merchant[] {
  const [merchants, setMerchants] = useState<readonly Merchant[]>([]);
  useEffect(() => {
    if (mode === undefined) return;
    const stop = new AbortController();
    void ask({ method: 'GET', path: '/v1/merchants?status=active&limit=100', mode }, stop.signal).then((answer) => {
      if (answer.is === 'ok') setMerchants((answer.body as { merchants: Merchant[] }).merchants);
    });
    return () => stop.abort();
  }, [mode]);
  return merchants;
}
