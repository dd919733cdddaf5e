import { Fill } from '../../shared/fill.tsx';
import { ClockGlyph, CrossGlyph, PenGlyph, SearchGlyph, ShieldGlyph } from '../../shared/glyphs.tsx';
import { chainOf, transactionPath } from '../../shared/networks.ts';
import { shortAccount } from '../../shared/text.ts';
import { fieldIn } from '../api.ts';
import type { RareStep as RareStepOf } from '../flow-state.ts';
import { Accepted } from './accepted.tsx';
import type { PaymentProps } from './app.tsx';
import { CancelPayment } from './cancel-payment.tsx';
import { Moment, StepTitle } from './moment.tsx';
import { Money } from './money-text.tsx';
import { NoticeBox } from './notice.tsx';
import { TokenPicture } from './pictures.tsx';
import { type StepProps, Waiting } from './steps.tsx';
import { TransactionLink } from './transaction-link.tsx';
import { Picking, Transfer } from './transfer.tsx';
import { useWords } from './words.ts';

/** The view of a step that few payers see. This module is loaded on demand. */
export function RareStep({ step, ...props }: PaymentProps & { readonly step: RareStepOf }) {
  const { flow, actions } = props;
  switch (step.at) {
    case 'no_funds':
      return <NoFunds flow={flow} step={step} actions={actions} />;
    case 'refused':
      return <Refused flow={flow} step={step} actions={actions} />;
    case 'setup':
      return <Setup flow={flow} step={step} actions={actions} />;
    case 'mining':
      return <Mining flow={flow} step={step} actions={actions} />;
    case 'picking':
      return <Picking {...props} />;
    case 'transfer':
      return step.deposit === null ? <Waiting actions={actions} /> : <Transfer {...props} deposit={step.deposit} />;
  }
}

function NoFunds({ flow, step, actions }: StepProps<'no_funds'>) {
  const { strings } = useWords();
  const { accepted, session, stopped } = step;
  const isSold = fieldIn(stopped, 'reason') === 'sold_out';
  // True if the payment accepts no token at the moment, so that no account can pay.
  const isNothingOffered = accepted?.length === 0;
  return (
    <Moment
      tone="calm"
      mark={isNothingOffered ? <ClockGlyph /> : <SearchGlyph />}
      title={isSold ? strings.soldOutTitle : isNothingOffered ? strings.nothingOfferedTitle : strings.noFundsTitle}
      text={
        isNothingOffered ? (
          isSold ? (
            strings.soldOutText
          ) : (
            strings.nothingOfferedText
          )
        ) : (
          <Fill
            text={strings.noFundsText}
            account={shortAccount(session.account)}
            amount={<Money amount={flow.payment.amount} />}
          />
        )
      }
    >
      <NoticeBox flow={flow} />
      {accepted !== null && accepted.length > 0 && <Accepted accepted={accepted} />}
      {!isNothingOffered && <p className="text">{strings.noFundsHint}</p>}
      <div className="buttons">
        <button type="button" className="button button-main" onClick={actions.checkAgain}>
          {strings.checkAgain}
        </button>
        <div className="ways-out">
          <button type="button" className="quiet" onClick={actions.back}>
            {strings.useAnother}
          </button>
          <CancelPayment flow={flow} actions={actions} />
        </div>
      </div>
    </Moment>
  );
}

function Refused({ flow, actions }: StepProps<'refused'>) {
  const { strings } = useWords();
  return (
    <Moment tone="bad" mark={<CrossGlyph />} title={strings.refusedTitle} text={strings.refusedText}>
      <NoticeBox flow={flow} />
      <div className="buttons">
        <button type="button" className="button" onClick={actions.back}>
          {strings.useAnother}
        </button>
        <CancelPayment flow={flow} actions={actions} />
      </div>
    </Moment>
  );
}

/** Explains the two wallet requests for a token that needs an approval, before they appear: their purpose, number and cost. */
function Setup({ flow, step, actions }: StepProps<'setup'>) {
  const { strings } = useWords();
  const { amount } = step.option;
  const token = amount.display.assetSymbol;
  return (
    <div className="stack">
      <header className="head">
        <TokenPicture amount={amount} />
        <StepTitle>
          <Fill text={strings.setupTitle} token={token} />
        </StepTitle>
        <p className="text">
          <Fill text={strings.setupText} token={token} />
        </p>
      </header>
      <NoticeBox flow={flow} />
      <ol className="plan">
        <li className="plan-step">
          <ShieldGlyph />
          <div>
            <p className="row-title">
              <Fill text={strings.setupAllow} token={token} />
            </p>
            <p className="row-text">{strings.setupAllowText}</p>
            <p className="row-text plan-cost">
              {step.cost === null ? strings.setupCostUnknown : <Fill text={strings.setupCost} cost={step.cost} />}
            </p>
          </div>
        </li>
        <li className="plan-step">
          <PenGlyph />
          <div>
            <p className="row-title">{strings.setupSign}</p>
            <p className="row-text">
              <Fill text={strings.setupSignText} amount={<Money amount={amount} />} />
            </p>
          </div>
        </li>
      </ol>
      <button type="button" className="button button-main" onClick={actions.pay} disabled={flow.isCancelling}>
        {strings.setupContinue}
      </button>
      <p className="aside">
        <button type="button" className="quiet" onClick={actions.back}>
          {strings.back}
        </button>
      </p>
    </div>
  );
}

function Mining({ step }: StepProps<'mining'>) {
  const { strings } = useWords();
  const { amount } = step.option;
  return (
    <Moment tone="busy" mark={<TokenPicture amount={amount} />} title={strings.miningTitle} text={strings.miningText}>
      <TransactionLink href={transactionPath(chainOf(amount.unit), step.txId)} />
    </Moment>
  );
}
