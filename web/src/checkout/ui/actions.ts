import type { QrShape } from '../../shared/qr.ts';
import type { Checkout } from '../checkout.ts';

/** What the payer can do on the page. */
export interface Actions extends Pick<Checkout, 'connect' | 'choose' | 'pay' | 'checkAgain' | 'back' | 'cancel'> {
  togglePhone(): void;
  copy(text: string): void;
  /** Goes to the shop now. */
  leave(): void;
}

/** The part of the page that leads to other devices. */
export interface PhonePanel {
  readonly isOpen: boolean;
  /** Null while it is being made. */
  readonly qr: QrShape | null;
  /** The wallet that was used the last time, by its key. */
  readonly lastWallet: string | null;
}
