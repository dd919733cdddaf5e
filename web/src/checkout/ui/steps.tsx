import { Fill } from '../../shared/fill.tsx';
import { CopyGlyph } from '../../shared/glyphs.tsx';
import type { Amount } from '../../shared/money.ts';
import type { Flow, Step } from '../flow-state.ts';
import type { Actions } from './actions.ts';
import type { Copying } from './copy-button.tsx';
import { Moment } from './moment.tsx';
import { Money } from './money-text.tsx';
import { TokenPicture, WalletPicture } from './pictures.tsx';
import { QrCode } from './qr-code.tsx';
import { useWords } from './words.ts';

export interface StepProps<At extends Step['at']> {
  readonly flow: Flow;
  readonly step: Extract<Step, { at: At }>;
  readonly actions: Actions;
}

/** The step in which a wallet connects. A paired wallet connects by a QR code, or on a phone by a link into the wallet app. */
export function Connecting({ step, copied, actions }: StepProps<'connecting'> & Pick<Copying, 'copied'>) {
  const { strings } = useWords();
  const { wallet, code } = step;
  const isPaired = wallet.kind === 'paired';
  return (
    <Moment
      tone="busy"
      mark={<WalletPicture wallet={wallet} />}
      title={isPaired ? strings.pairingTitle : <Fill text={strings.connectingTitle} wallet={wallet.name} />}
      text={isPaired ? strings.pairingText : step.isSlow ? strings.slowWallet : strings.connectingText}
    >
      {isPaired && <QrCode qr={code?.qr ?? null} label={strings.pairingLabel} />}
      <div className="buttons">
        {code !== null && (
          <>
            <a className="button button-main on-phone" href={code.uri}>
              {strings.appWallet}
            </a>
            <button type="button" className="button" onClick={() => actions.copy(code.uri)}>
              {copied === code.uri ? strings.copied : strings.copyCode}
            </button>
          </>
        )}
        {step.isSlow && (
          <button type="button" className="button" onClick={() => actions.connect(wallet.id)}>
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

export function Preparing({ step }: StepProps<'preparing'>) {
  const { strings } = useWords();
  return <Moment tone="busy" mark={<WalletPicture wallet={step.session.wallet} />} title={strings.preparingTitle} />;
}

/** The view until the view of a rare step is loaded, or until the gateway has opened a deposit address. */
export function Waiting({ actions }: { readonly actions: Actions }) {
  const { strings } = useWords();
  return (
    <Moment tone="busy" mark={<CopyGlyph />} title={strings.preparingTitle}>
      <div className="buttons">
        <button type="button" className="quiet" onClick={actions.back}>
          {strings.back}
        </button>
      </div>
    </Moment>
  );
}

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

/** The amount to pay. Payers compare it with the amount that the wallet shows. */
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
