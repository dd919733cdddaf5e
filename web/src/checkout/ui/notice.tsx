import { Fill } from '../../shared/fill.tsx';
import { AlertGlyph, CloudGlyph, InfoGlyph } from '../../shared/glyphs.tsx';
import { shortAccount } from '../../shared/text.ts';
import { type Flow, type Notice, noticeTextOf } from '../flow-state.ts';
import { useWords } from './words.ts';

const CALM: readonly (Notice | 'lapsedWithMoney')[] = ['rejected', 'accountChanged', 'quoteExpired'];

/** A notice about an unexpected event, with the payer's next step. */
export function NoticeBox({ flow }: { readonly flow: Flow }) {
  const { strings } = useWords();
  const { step } = flow;
  const notice = noticeTextOf(flow);
  if (notice === null) return null;
  const choice = 'option' in step ? step : null;
  return (
    <p className={CALM.includes(notice) ? 'notice' : 'notice notice-warm'}>
      {CALM.includes(notice) ? <InfoGlyph /> : <AlertGlyph />}
      <span>
        <Fill
          text={strings[notice]}
          network={choice?.option.amount.display.networkName ?? ''}
          account={choice === null ? '' : shortAccount(choice.session.account)}
        />
      </span>
    </p>
  );
}

/** The bar above the step while the browser is offline or the gateway is unavailable. The step does not change. */
export function ConnectionBar({ connection }: Pick<Flow, 'connection'>) {
  const { strings } = useWords();
  if (connection === 'good') return null;
  return (
    <p className="connection">
      <CloudGlyph />
      <span>{connection === 'offline' ? strings.offline : strings.away}</span>
    </p>
  );
}
