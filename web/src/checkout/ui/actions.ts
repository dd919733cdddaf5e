import type { QrShape } from '../../shared/qr.ts';
import type { Checkout } from '../checkout.ts';

export interface Actions
  extends Pick<Checkout, 'connect' | 'choose' | 'pay' | 'send' | 'sendToken' | 'checkAgain' | 'back' | 'cancel'> {
  togglePhone(): void;
  copy(text: string): void;
  leave(): void;
  /** Sends a receipt by mail. Missing before the script runs. */
  readonly mailReceipt?: Checkout['mailReceipt'];
  stay(): void;
}

/** The module with the views of rare steps, loaded on demand. */
export type RareSteps = typeof import('./rare-steps.tsx');

/** The state of the panel for paying with another device. */
export interface PhonePanel {
  readonly isOpen: boolean;
  /** The QR code. Null while it is being generated. */
  readonly qr: QrShape | null;
  readonly lastWallet: string | null;
}
