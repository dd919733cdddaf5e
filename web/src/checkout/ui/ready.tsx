import { ChevronGlyph, CopyGlyph } from '../../shared/glyphs.tsx';
import { type Flow, hasMoney } from '../flow-state.ts';
import type { PaymentPage } from '../page-state.ts';
import type { Actions, PhonePanel } from './actions.ts';
import { CancelPayment } from './cancel-payment.tsx';
import type { Copying } from './copy-button.tsx';
import { StepTitle } from './moment.tsx';
import { NoticeBox } from './notice.tsx';
import { PhonePay } from './phone-pay.tsx';
import { WalletList } from './wallet-list.tsx';
import { useWords } from './words.ts';

interface ReadyProps extends Copying {
  readonly page: PaymentPage;
  readonly flow: Flow;
  readonly actions: Actions;
  readonly phone: PhonePanel;
}

/** The wallets of this browser, and ways to pay with other devices and from exchanges. */
export function Ready({ page, flow, copied, actions, phone }: ReadyProps) {
  const { strings } = useWords();
  const { wallets } = flow;
  const hasNone = wallets !== null && wallets.length === 0;
  return (
    <div className="stack">
      <div className="needs-script stack">
        <header className="head">
          <StepTitle>{hasNone ? strings.noWalletTitle : strings.readyTitle}</StepTitle>
          {hasNone ? (
            <NoWalletText />
          ) : (
            !hasMoney(flow) && !flow.payment.lateMoney?.length && <p className="text">{strings.readyText}</p>
          )}
        </header>
        <NoticeBox flow={flow} />
        <WalletList
          wallets={wallets}
          lastWallet={phone.lastWallet}
          isDisabled={flow.isCancelling}
          onConnect={actions.connect}
        />
      </div>
      <PhonePay page={page} phone={phone} copied={copied} actions={actions} isLeading={hasNone} />
      {page.sendable.length > 0 && <SendRow isDisabled={flow.isCancelling} onSend={actions.send} />}
      <CancelPayment flow={flow} actions={actions} />
    </div>
  );
}

/**
 * The text for a browser without a wallet. On a phone it mentions wallet apps instead of a QR code, because a phone cannot scan its
 * own screen.
 */
function NoWalletText() {
  const { strings } = useWords();
  return (
    <>
      <p className="text on-desk">{strings.noWalletText}</p>
      <p className="text on-phone">{strings.noWalletPhoneText}</p>
    </>
  );
}

/** The button for payers without a connectable wallet, who send a token to a deposit address. */
function SendRow({ isDisabled, onSend }: { readonly isDisabled: boolean; readonly onSend: () => void }) {
  const { strings } = useWords();
  return (
    <div className="list needs-script">
      <button type="button" className="row" onClick={onSend} disabled={isDisabled}>
        <span className="wallet-picture" aria-hidden="true">
          <CopyGlyph />
        </span>
        <span className="row-main">
          <span className="row-title">{strings.sendAnywhere}</span>
          <span className="row-text">{strings.sendAnywhereText}</span>
        </span>
        <ChevronGlyph />
      </button>
    </div>
  );
}
