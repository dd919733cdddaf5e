import { MODES, type Mode } from '../../domain/mode.ts';
import { ensureWalletApp } from '../../store/parties/wallet-apps.ts';
import { type CommandDeps, command } from '../command.ts';

/** The wallet name that merchants see for payments made on the checkout page. */
const NAME = 'Checkout';

/** The public App-Ids of the checkout page. They are constants, so that every node uses the same ones. */
export const CHECKOUT_APPS: Readonly<Record<Mode, string>> = {
  test: 'app_0000000000000000000PAGET00',
  live: 'app_0000000000000000000PAGE000',
};

/** Registers the checkout page as a wallet app in both modes, so that it can call the gateway routes. Idempotent. */
export function openCheckout(deps: CommandDeps): Promise<void> {
  return command(deps, async (tx, createdAt) => {
    for (const mode of MODES) {
      await ensureWalletApp(tx, { id: CHECKOUT_APPS[mode], mode, name: NAME, iconUrl: null, createdAt });
    }
  });
}
