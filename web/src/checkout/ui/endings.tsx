import type { ReactNode } from 'react';
import { returnTextOf } from '../../../../src/domain/late-money.ts';
import { Fill } from '../../shared/fill.tsx';
import { CheckGlyph, ClockGlyph, CrossGlyph } from '../../shared/glyphs.tsx';
import { clamp, shortAccount } from '../../shared/text.ts';
import type { Flow } from '../flow-state.ts';
import { wayBack } from '../leaving.ts';
import type { PaymentPage } from '../page-state.ts';
import type { Actions } from './actions.ts';
import type { Copying } from './copy-button.tsx';
import { MailReceipt } from './mail-receipt.tsx';
import { Moment } from './moment.tsx';
import { Money } from './money-text.tsx';
import { TransactionId, TransactionLink } from './transaction-link.tsx';
import { useWords } from './words.ts';

interface EndingProps extends Copying {
  readonly page: PaymentPage;
  readonly flow: Flow;
  readonly actions: Actions;
  /** The seconds until the automatic return to the shop. Null if there is none. */
  readonly secondsToReturn: number | null;
}

export function Ending(props: EndingProps) {
  const { strings } = useWords();
  const { status, failureCode, merchant } = props.flow.payment;
  const name = clamp(merchant.name, 64);
  // If there is no return URL, the texts must not ask the payer to go back to the shop.
  const hasWay = wayBack(props.page, status) !== null;
  const isPaid = status === 'succeeded';
  const failed = hasWay ? strings.failedText : strings.failedTextAlone;
  const [tone, mark, title, text] = isPaid
    ? (['good', <CheckGlyph key="" />, strings.paidTitle, strings.paidText] as const)
    : status === 'expired'
      ? ([
          'calm',
          <ClockGlyph key="" />,
          strings.expiredTitle,
          hasWay ? strings.expiredText : strings.expiredTextAlone,
        ] as const)
      : status === 'cancelled'
        ? (['calm', <CrossGlyph key="" />, strings.cancelledTitle, strings.cancelledText] as const)
        : ([
            'bad',
            <CrossGlyph key="" />,
            strings.failedTitle,
            failureCode === 'declined_user' ? strings.declinedText : failed,
          ] as const);
  return (
    <Moment tone={tone} mark={mark} title={title} text={<Fill text={text} merchant={name} />}>
      {isPaid && <Receipt {...props} />}
      <Late flow={props.flow} />
      {isPaid && props.page.mailsReceipts && <MailReceipt actions={props.actions} />}
      <Way {...props} name={name} />
    </Moment>
  );
}

function Receipt({ page, flow, copied, actions }: EndingProps) {
  const { strings } = useWords();
  const { info, buyer } = flow.payment;
  if (!info) return null;
  const { networkName } = info.optionAmount.display;
  return (
    <>
      <dl className="receipt">
        <Line label={strings.paidWith}>
          <Money amount={info.optionAmount} />
        </Line>
        {networkName && <Line label={strings.network}>{networkName}</Line>}
        {buyer && (
          <Line label={strings.paidFrom}>
            <span dir="ltr">{shortAccount(buyer.accountCaip10)}</span>
          </Line>
        )}
        <Line label={strings.transaction}>
          <TransactionId txId={info.txId} copied={copied} actions={actions} />
        </Line>
      </dl>
      <p className="small">
        <TransactionLink href={info.explorerUrl} />
        <TransactionLink href={page.receiptUrl} text={strings.openReceipt} />
      </p>
    </>
  );
}

/**
 * Late money, shown above the step while the payment is open. For example, a token other than the expected one can arrive at a
 * deposit address.
 */
export function LateNotice({ flow }: { readonly flow: Flow }) {
  if (!flow.payment.lateMoney?.length) return null;
  return (
    <div className="notice notice-warm late" role="status">
      <div>
        <Late flow={flow} />
      </div>
    </div>
  );
}

/** Money that arrived and did not count for the payment. */
function Late({ flow }: { readonly flow: Flow }) {
  const { strings } = useWords();
  const { lateMoney, merchant } = flow.payment;
  if (!lateMoney?.length) return null;
  const text = strings[returnTextOf(lateMoney.map(({ status }) => status))];
  return (
    <>
      <dl className="receipt" aria-label={strings.lateMoney}>
        {lateMoney.map(({ reason, amount }, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the lines are in the order of their arrival
          <Line key={index} label={strings[reason]}>
            <Money amount={amount} />
          </Line>
        ))}
      </dl>
      <p className="small">
        <Fill text={text} merchant={clamp(merchant.name, 64)} />
      </p>
    </>
  );
}

export function Line({ label, children }: { readonly label: string; readonly children: ReactNode }) {
  return (
    <div className="receipt-line">
      <dt>{label}</dt>
      <dd>{children}</dd>
    </div>
  );
}

/** The way back to the shop. It is a link instead of a button, so that it works without a script. */
function Way({ page, flow, actions, secondsToReturn, name }: EndingProps & { readonly name: string }) {
  const { strings } = useWords();
  const href = wayBack(page, flow.payment.status);
  return (
    <div className="buttons">
      {href === null ? (
        <p className="small">{strings.closePage}</p>
      ) : (
        <a
          className="button button-main"
          href={href}
          onClick={(event) => {
            event.preventDefault();
            actions.leave();
          }}
        >
          <span>
            <Fill text={strings.returnNow} merchant={clamp(name, 32)} />
          </span>
        </a>
      )}
      {secondsToReturn !== null && (
        <p className="small" aria-hidden="true">
          <Fill text={strings.returningIn} seconds={secondsToReturn} />
        </p>
      )}
    </div>
  );
}
