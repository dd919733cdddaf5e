import type { Pairing, PaymentPage } from '../page-state.ts';
import { WalletError } from '../wallet-request.ts';
import type { Wallet } from '../wallets.ts';
import type { PairedWallet } from './paired-wallet.ts';

/** The entry in the list of wallets for a wallet on another device. The pairing client is loaded when the payer chooses this entry. */
export function phoneWallet(page: PaymentPage, pairing: Pairing, { url }: { readonly url: string }): Wallet {
  let loaded: Promise<PairedWallet> | undefined;
  const load = () => {
    loaded ??= import('./paired-wallet.ts')
      .then(({ createPairedWallet }) => createPairedWallet({ pairing, page, url }))
      .catch(() => {
        loaded = undefined;
        throw new WalletError('relayAway');
      });
    return loaded;
  };
  const use = (action: (wallet: PairedWallet) => unknown) => void loaded?.then(action, () => {});
  return {
    id: 'paired',
    key: 'paired',
    name: page.strings.pairedWallet,
    icon: null,
    kind: 'paired',
    close: () => use((wallet) => wallet.close()),
    provider: {
      request: async (call) => (await load()).request(call),
      on(type, listener) {
        void load().catch(() => {});
        use((wallet) => wallet.on?.(type, listener));
      },
      removeListener: (type, listener) => use((wallet) => wallet.removeListener?.(type, listener)),
    },
  };
}
