import type { ReactNode } from 'react';
import { Fill } from '../../shared/fill.tsx';
import { AlertGlyph, CheckGlyph, ClockGlyph, CrossGlyph } from '../../shared/glyphs.tsx';
import { chainOf, transactionPath } from '../../shared/networks.ts';
import { addressOf, fill, shortAccount } from '../../shared/text.ts';
import type { RefundPage, RefundView } from '../page-state.ts';
import { refusalText } from '../ui/confirming.tsx';
import { Line } from '../ui/endings.tsx';
import { Footer, SandboxBar } from '../ui/frame.tsx';
import { Moment, StepTitle } from '../ui/moment.tsx';
import { Money } from '../ui/money-text.tsx';
import { ConnectionBar } from '../ui/notice.tsx';
import { TokenPicture, WalletPicture } from '../ui/pictures.tsx';
import { Due } from '../ui/steps.tsx';
import { SummaryHead } from '../ui/summary-head.tsx';
import { TransactionLink } from '../ui/transaction-link.tsx';
import { WalletList } from '../ui/wallet-list.tsx';
import { useWords, WordsContext } from '../ui/words.ts';
import type { RefundStrings } from './refund-strings.ts';
import type { Signing, SigningPage } from './signing.ts';

export interface RefundProps {
  readonly page: RefundPage;
  readonly state: Signing;
  readonly actions: Pick<SigningPage, 'sign' | 'back'>;
}

export function RefundApp(props: RefundProps) {
  const { page, state } = props;
  const { refund, step, isAway } = state;
  return (
    <WordsContext value={page}>
      <div className="page">
        <header className="bars">
          {page.sandbox !== null && <SandboxBar />}
          <ConnectionBar connection={isAway ? 'away' : 'good'} />
        </header>
        <main className="sheet">
          <Summary refund={refund} words={page.refundStrings} />
          <section className="panel" aria-labelledby="step-title">
            <div className="step" key={`${refund.status} ${step.at}`}>
              <Content {...props} />
            </div>
          </section>
        </main>
        <Footer />
        <div className="unseen" role="status" aria-live="polite">
          <p>{spoken(props)}</p>
        </div>
      </div>
    </WordsContext>
  );
}

/** The facts that the signature covers, visible in every step. */
function Summary({ refund, words }: { readonly refund: RefundView; readonly words: RefundStrings }) {
  const { merchant, amount, fee, isFeeReturned, destination, account } = refund;
  const { strings } = useWords();
  const { networkName } = amount.display;
  return (
    <section className="summary" aria-labelledby="amount">
      <SummaryHead merchant={merchant} amount={amount} title={words.title} />
      <dl className="receipt">
        <Line label={words.to}>
          <Account account={destination} />
        </Line>
        {account !== null && (
          <Line label={words.from}>
            <Account account={account} />
          </Line>
        )}
        {networkName != null && <Line label={strings.network}>{networkName}</Line>}
      </dl>
      {fee !== null && (
        <p className="small">
          <Fill text={isFeeReturned ? words.feeReturned : words.feeKept} fee={<Money amount={fee} />} />
        </p>
      )}
    </section>
  );
}

function Account({ account }: { readonly account: string }) {
  return (
    <span dir="ltr" title={addressOf(account)}>
      {shortAccount(account)}
    </span>
  );
}

function Content(props: RefundProps) {
  const { strings } = useWords();
  const { page, state } = props;
  const { refund, step } = state;
  const words = page.refundStrings;
  if (refund.status === 'refunded') {
    return (
      <Moment
        tone="good"
        mark={<CheckGlyph />}
        title={words.doneTitle}
        text={<Fill text={words.doneText} amount={<Money amount={refund.amount} />} />}
      >
        <TransactionLink href={refund.transaction?.explorerUrl ?? null} />
        <p className="small">{strings.closePage}</p>
      </Moment>
    );
  }
  if (refund.status === 'sending') {
    return (
      <Moment
        tone="busy"
        mark={<TokenPicture amount={refund.amount} />}
        title={words.sendingTitle}
        text={refund.attempt === null ? words.sendingText : refusalText(refund.attempt.refusal, strings)}
      />
    );
  }
  if (refund.waitingFor !== 'merchant_signature') {
    const isEnded = refund.status === 'failed';
    return (
      <Moment
        tone="calm"
        mark={isEnded ? <CrossGlyph /> : <ClockGlyph />}
        title={words.closedTitle}
        text={closedText(refund, words)}
      />
    );
  }
  return step.at === 'ready' ? <Ready {...props} /> : <Underway {...props} />;
}

function closedText({ status, waitingFor }: RefundView, words: RefundStrings): string {
  if (status === 'failed') return words.endedText;
  if (waitingFor === 'unfreeze') return words.stoppedText;
  if (waitingFor === 'cooling_off') return words.coolingText;
  return waitingFor === 'float' ? words.heldText : words.preparingText;
}

/**
 * The list of wallets in this browser, from which the merchant chooses the one that signs. If JavaScript is off, a text says that the
 * page needs it.
 */
function Ready({ page, state, actions }: RefundProps) {
  const { strings } = useWords();
  const words = page.refundStrings;
  const { refund, wallets } = state;
  return (
    <div className="stack">
      <header className="head">
        <StepTitle>{words.signTitle}</StepTitle>
        <p className="text">
          <Fill text={words.signText} account={<Account account={refund.account ?? ''} />} />
        </p>
      </header>
      <NoticeBox page={page} state={state} />
      <div className="needs-script stack">
        {wallets?.length === 0 && <p className="text">{strings.noWalletTitle}</p>}
        <WalletList wallets={wallets} lastWallet={null} isDisabled={false} onConnect={actions.sign} />
      </div>
      <noscript>
        <p className="text">{words.noScript}</p>
      </noscript>
    </div>
  );
}

function Underway({ page, state, actions }: RefundProps) {
  const { strings } = useWords();
  const { refund, step } = state;
  const { amount } = refund;
  const { display } = amount;
  const back = (
    <div className="buttons">
      <button type="button" className="quiet" onClick={actions.back}>
        {strings.back}
      </button>
    </div>
  );
  switch (step.at) {
    case 'connecting':
      return (
        <Moment
          tone="busy"
          mark={<WalletPicture wallet={step.wallet} />}
          title={<Fill text={strings.connectingTitle} wallet={step.wallet.name} />}
          text={step.isSlow ? strings.slowWallet : strings.connectingText}
        >
          {back}
        </Moment>
      );
    case 'preparing':
      return (
        <Moment tone="busy" mark={<WalletPicture wallet={step.wallet} />} title={page.refundStrings.signTitle}>
          {back}
        </Moment>
      );
    case 'asking': {
      const [title, text] = {
        switch: [strings.switchTitle, strings.switchText],
        approve: [strings.approveTitle, page.refundStrings.allowFirst],
        sign: [strings.signTitle, strings.signText],
        send: [strings.sendTitle, strings.sendText],
      }[step.ask] as [string, string];
      return (
        <Moment
          tone="busy"
          mark={<WalletPicture wallet={step.wallet} />}
          title={
            <Fill
              text={title}
              wallet={step.wallet.name}
              token={display.assetSymbol}
              network={display.networkName ?? ''}
            />
          }
          text={step.isSlow ? strings.slowWallet : text}
        >
          {(step.ask === 'sign' || step.ask === 'send') && <Due amount={amount} />}
          {step.ask === 'send' && step.isSlow && <p className="text">{strings.sendBackWarning}</p>}
          {back}
        </Moment>
      );
    }
    case 'mining':
      return (
        <Moment
          tone="busy"
          mark={<TokenPicture amount={amount} />}
          title={strings.miningTitle}
          text={strings.miningText}
        >
          <TransactionLink href={transactionPath(chainOf(amount.unit), step.txId)} />
        </Moment>
      );
    default: {
      const txId = step.at === 'delivering' ? step.txId : null;
      return (
        <Moment
          tone="busy"
          mark={<TokenPicture amount={amount} />}
          title={page.refundStrings.sendingTitle}
          text={txId === null ? strings.deliverText : strings.unseenText}
        >
          {txId !== null && <TransactionLink href={transactionPath(chainOf(amount.unit), txId)} />}
        </Moment>
      );
    }
  }
}

function NoticeBox({ page, state }: Pick<RefundProps, 'page' | 'state'>): ReactNode {
  const text = noticeText(page, state);
  if (text === null) return null;
  return (
    <p className="notice notice-warm">
      <AlertGlyph />
      <span>{text}</span>
    </p>
  );
}

function noticeText({ strings, refundStrings }: RefundPage, { notice, refund }: Signing): string | null {
  if (notice === null) return null;
  const wanted = shortAccount(refund.account ?? '');
  const network = refund.amount.display.networkName ?? '';
  if (notice.is === 'otherAccount') {
    return fill(refundStrings.otherAccount, { account: shortAccount(notice.account), wanted });
  }
  if (notice.is === 'notNow' || notice.is === 'ranOut') return refundStrings[notice.is];
  return fill(strings[notice.is], { account: wanted, network });
}

/** The text for screen readers in steps that do not move the focus. */
function spoken({ page, state }: RefundProps): string {
  const { refund, step } = state;
  const words = page.refundStrings;
  if (refund.status === 'refunded') return words.doneTitle;
  if (refund.status === 'sending') return words.sendingTitle;
  return 'isSlow' in step && step.isSlow ? page.strings.slowWallet : (noticeText(page, state) ?? '');
}
