import type { QrShape } from '../../shared/qr.ts';
import type { Checkout } from '../checkout.ts';

/** The payer's actions on the page. */
export interface Actions
  extends Pick<Checkout, 'connect' | 'choose' | 'pay' | 'send' | 'sendToken' | 'checkAgain' | 'back' | 'cancel'> {
  togglePhone(): void;
  copy(text: string): void;
  /** Goes to the shop now. */
  leave(): void;
  /** Missing before the script runs. */
  readonly mailReceipt?: Checkout['mailReceipt'];
  /** Stops the automatic return to the shop. */
  stay(): void;
}

/** A module that is loaded on demand. */
export type RareSteps = typeof import('./rare-steps.tsx');

/** The part of the page that leads to other devices. */
export interface PhonePanel {
  readonly isOpen: boolean;
  /** Null while it is being generated. */
  readonly qr: QrShape | null;
  /** The key of the last used wallet. */
  readonly lastWallet: string | null;
}
