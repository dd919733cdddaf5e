import { ChevronGlyph, OutGlyph, PhoneGlyph } from '../../shared/glyphs.tsx';
import { initialsOf } from '../../shared/text.ts';
import type { PaymentPage } from '../page-state.ts';
import { payUrl, phoneWallets } from '../phone-wallets.ts';
import type { Actions, PhonePanel } from './actions.ts';
import type { Copying } from './copy-button.tsx';
import { QrCode } from './qr-code.tsx';
import { useWords } from './words.ts';

interface PhonePayProps extends Copying {
  readonly page: PaymentPage;
  readonly phone: PhonePanel;
  readonly actions: Actions;
  /** True if this is the only way to pay. Then the panel is open and cannot be folded. */
  readonly isLeading: boolean;
}

/**
 * The panel for wallets on other devices: a QR code, the same URL as a link, and on a phone links that open the browsers of wallet
 * apps.
 */
export function PhonePay({ page, phone, copied, actions, isLeading }: PhonePayProps) {
  const { strings } = useWords();
  const url = payUrl(page);
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
            <span className="row-title on-desk">{strings.phoneWallet}</span>
            <span className="row-text on-desk">{strings.phoneWalletText}</span>
            <span className="row-title on-phone">{strings.appWallet}</span>
            <span className="row-text on-phone">{strings.appWalletText}</span>
          </span>
          <span className={isOpen ? 'turn turn-open' : 'turn'}>
            <ChevronGlyph />
          </span>
        </button>
      )}
      <div
        id="phone-panel"
        className={`phone-panel ${isOpen ? '' : 'phone-closed'} ${isLeading ? '' : 'phone-beside'}`}
      >
        {isOpen && <QrCode qr={phone.qr} label={strings.qrLabel} hint={strings.qrHint} />}
        {isOpen && <PhoneApps url={url} />}
        <div className="link">
          <span className="link-label" id="link-label">
            {strings.paymentLink}
          </span>
          <a className="link-url" href={url} aria-describedby="link-label" dir="ltr">
            {url.replace(/^https?:\/\//, '')}
          </a>
          <button type="button" className="button button-small needs-script" onClick={() => actions.copy(url)}>
            {copied === url ? strings.copied : strings.copyLink}
          </button>
        </div>
      </div>
    </div>
  );
}

function PhoneApps({ url }: { readonly url: string }) {
  const { strings } = useWords();
  return (
    <ul className="list on-phone" aria-label={strings.openInApp}>
      {phoneWallets(url).map(({ name, href }) => (
        <li key={name}>
          <a className="row" href={href} rel="noreferrer">
            <span className="wallet-picture initials" aria-hidden="true">
              {initialsOf(name)}
            </span>
            <span className="row-main row-title">{name}</span>
            <OutGlyph />
          </a>
        </li>
      ))}
    </ul>
  );
}
