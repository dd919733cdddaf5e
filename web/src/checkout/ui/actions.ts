import type { QrShape } from '../../shared/qr.ts';
import type { Checkout } from '../checkout.ts';

export interface Actions
  extends Pick<Checkout, 'connect' | 'choose' | 'pay' | 'send' | 'sendToken' | 'checkAgain' | 'back' | 'cancel'> {
  togglePhone(): void;
  copy(text: string): void;
  leave(): void;
  /** Missing before the script runs. */
  readonly mailReceipt?: Checkout['mailReceipt'];
  stay(): void;
}

/** Loaded on demand. */
export type RareSteps = typeof import('./rare-steps.tsx');

/** The part of the page for other devices. */
export interface PhonePanel {
  readonly isOpen: boolean;
  /** Null while the code is being generated. */
  readonly qr: QrShape | null;
  readonly lastWallet: string | null;
}
