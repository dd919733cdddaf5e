import { Fill } from '../../shared/fill.tsx';
import { ClockGlyph, CrossGlyph, PenGlyph, SearchGlyph, ShieldGlyph } from '../../shared/glyphs.tsx';
import type { Amount } from '../../shared/money.ts';
import { chainOf, transactionPath } from '../../shared/networks.ts';
import { shortAccount } from '../../shared/text.ts';
import type { Flow, Step } from '../flow.ts';
import { Accepted } from './accepted.tsx';
import type { Actions } from './actions.ts';
import { CancelPayment } from './cancel-payment.tsx';
import { Moment, StepTitle } from './moment.tsx';
import { Money } from './money-text.tsx';
import { NoticeBox } from './notice.tsx';
import { TokenPicture, WalletPicture } from './pictures.tsx';
import { TransactionLink } from './transaction-link.tsx';
import { useWords } from './words.ts';

interface StepProps<At extends Step['at']> {
  readonly flow: Flow;
  readonly step: Extract<Step, { at: At }>;
  readonly actions: Actions;
}

export function Connecting({ step, actions }: StepProps<'connecting'>) {
  const { strings } = useWords();
  return (
    <Moment
      tone="busy"
      mark={<WalletPicture wallet={step.wallet} />}
      title={<Fill text={strings.connectingTitle} wallet={step.wallet.name} />}
      text={step.isSlow ? strings.slowWallet : strings.connectingText}
    >
      <div className="buttons">
        {step.isSlow && (
          <button type="button" className="button" onClick={() => actions.connect(step.wallet.id)}>
            {strings.tryAgain}
          </button>
        )}
        <button type="button" className="quiet" onClick={actions.back}>
          {strings.useAnother}
        </button>
      </div>
    </Moment>
  );
}

export function Loading({ flow, step, actions }: StepProps<'loading'>) {
  const { strings } = useWords();
  return (
    <Moment
      tone="busy"
      mark={<WalletPicture wallet={step.session.wallet} />}
      title={strings.loadingTitle}
      text={<Fill text={strings.loadingText} amount={<Money amount={flow.payment.amount} />} />}
    >
      <div className="buttons">
        <button type="button" className="quiet" onClick={actions.back}>
          {strings.useAnother}
        </button>
      </div>
    </Moment>
  );
}

export function NoFunds({ flow, step, actions }: StepProps<'no_funds'>) {
  const { strings } = useWords();
  const { accepted, session } = step;
  // No option is available to any account at the moment.
  const isNothingOffered = accepted?.length === 0;
  return (
    <Moment
      tone="calm"
      mark={isNothingOffered ? <ClockGlyph /> : <SearchGlyph />}
      title={isNothingOffered ? strings.nothingOfferedTitle : strings.noFundsTitle}
      text={
        isNothingOffered ? (
          strings.nothingOfferedText
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

export function Refused({ flow, actions }: StepProps<'refused'>) {
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

/** Explains the two wallet requests of a setup in advance: purpose, number and cost. */
export function Setup({ flow, step, actions }: StepProps<'setup'>) {
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

export function Preparing({ step }: StepProps<'preparing'>) {
  const { strings } = useWords();
  return <Moment tone="busy" mark={<WalletPicture wallet={step.session.wallet} />} title={strings.preparingTitle} />;
}

/** The payer has to act in their wallet. */
export function Asking({ step, actions }: StepProps<'asking'>) {
  const { strings } = useWords();
  const { wallet } = step.session;
  const { display } = step.option.amount;
  const [title, text] = {
    switch: [strings.switchTitle, strings.switchText],
    approve: [strings.approveTitle, strings.approveText],
    sign: [strings.signTitle, strings.signText],
    send: [strings.sendTitle, strings.sendText],
  }[step.ask] as [string, string];
  return (
    <Moment
      tone="busy"
      mark={<WalletPicture wallet={wallet} />}
      title={<Fill text={title} wallet={wallet.name} token={display.assetSymbol} network={display.networkName ?? ''} />}
      text={step.isSlow ? strings.slowWallet : text}
    >
      {(step.ask === 'sign' || step.ask === 'send') && <Due amount={step.option.amount} />}
      {step.ask === 'send' && step.isSlow && <p className="text">{strings.sendBackWarning}</p>}
      <div className="buttons">
        <button type="button" className="quiet" onClick={actions.back}>
          {strings.back}
        </button>
      </div>
    </Moment>
  );
}

/** The amount that the wallet should show too, because payers compare. */
export function Due({ amount }: { readonly amount: Amount }) {
  const { strings } = useWords();
  const { networkName } = amount.display;
  return (
    <p className="due">
      <TokenPicture amount={amount} />
      <span>
        <Money amount={amount} className="due-amount" />{' '}
        {networkName != null && (
          <span className="row-network">
            <Fill text={strings.onNetwork} network={networkName} />
          </span>
        )}
      </span>
    </p>
  );
}

export function Mining({ step }: StepProps<'mining'>) {
  const { strings } = useWords();
  const { amount } = step.option;
  return (
    <Moment tone="busy" mark={<TokenPicture amount={amount} />} title={strings.miningTitle} text={strings.miningText}>
      <TransactionLink href={transactionPath(chainOf(amount.unit), step.txId)} />
    </Moment>
  );
}
