import { ChevronGlyph, OutGlyph, PhoneGlyph } from '../../shared/glyphs.tsx';
import type { PaymentPage } from '../page-state.ts';
import { phoneWallets } from '../phone-wallets.ts';
import type { Actions, PhonePanel } from './actions.ts';
import { useWords } from './words.ts';

interface PhonePayProps {
  readonly page: PaymentPage;
  readonly phone: PhonePanel;
  readonly actions: Actions;
  /** There is no other way: it is open then, and needs no door. */
  readonly isLeading: boolean;
}

/** For wallets elsewhere: a code to scan, the same as a link, and on a phone the way into a wallet's own browser. */
export function PhonePay({ page, phone, actions, isLeading }: PhonePayProps) {
  const { strings } = useWords();
  const isOpen = phone.isOpen || isLeading;
  return (
    <div className="phone">
      <h2 className="title no-script">{strings.noScriptTitle}</h2>
      <p className="text no-script">{strings.noScript}</p>
      {!isLeading && (
        <button
          type="button"
          className="row needs-script"
          aria-expanded={isOpen}
          aria-controls="phone-panel"
          onClick={actions.togglePhone}
        >
          <span className="wallet-picture" aria-hidden="true">
            <PhoneGlyph />
          </span>
          <span className="row-main">
            <span className="row-title">{strings.phoneWallet}</span>
            <span className="row-text">{strings.phoneWalletText}</span>
          </span>
          <span className={isOpen ? 'turn turn-open' : 'turn'}>
            <ChevronGlyph />
          </span>
        </button>
      )}
      <div id="phone-panel" className={isOpen ? 'phone-panel' : 'phone-panel phone-closed'}>
        {isOpen && <QrCode phone={phone} />}
        <div className="link">
          <span className="link-label" id="link-label">
            {strings.paymentLink}
          </span>
          <a className="link-url" href={page.gatewayUrl} aria-describedby="link-label" dir="ltr">
            {page.gatewayUrl.replace(/^https?:\/\//, '')}
          </a>
          <button type="button" className="button button-small needs-script" onClick={actions.copyLink}>
            {phone.isCopied ? strings.copied : strings.copyLink}
          </button>
        </div>
        {isOpen && <PhoneApps gatewayUrl={page.gatewayUrl} />}
      </div>
    </div>
  );
}

function QrCode({ phone }: { readonly phone: PhonePanel }) {
  const { strings } = useWords();
  const { qr } = phone;
  return (
    <figure className="qr">
      {qr === null ? (
        <div className="qr-code qr-blank" />
      ) : (
        <svg className="qr-code" viewBox={`0 0 ${qr.size} ${qr.size}`} role="img" aria-label={strings.qrLabel}>
          <path d={qr.path} />
        </svg>
      )}
      <figcaption className="small">{strings.qrHint}</figcaption>
    </figure>
  );
}

function PhoneApps({ gatewayUrl }: { readonly gatewayUrl: string }) {
  const { strings } = useWords();
  return (
    <div className="apps">
      <p className="link-label" id="apps-label">
        {strings.openInApp}
      </p>
      <ul className="apps-list" aria-labelledby="apps-label">
        {phoneWallets(gatewayUrl).map(({ name, href }) => (
          <li key={name}>
            <a className="button button-small" href={href} rel="noreferrer">
              {name} <OutGlyph />
            </a>
          </li>
        ))}
      </ul>
    </div>
  );
}
