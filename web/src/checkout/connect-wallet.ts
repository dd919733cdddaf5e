import type { CheckoutContext } from './checkout-context.ts';
import type { Code } from './flow-state.ts';
import { loadOptions } from './load-options.ts';
import { noticeOf } from './pay.ts';
import { accountIn, accountsIn, askWallet } from './wallet-request.ts';
import { cardOf, type Wallet } from './wallets.ts';

/** Asks a wallet for an account. The wallet may be locked, decline, return nonsense or never answer, so the payer can always go back. */
export async function connectWallet(context: CheckoutContext, wallet: Wallet): Promise<void> {
  const { dispatch, begin, expectAnswer, gotAnswer } = context;
  const { provider } = wallet;
  const signal = begin();
  dispatch({ type: 'connect', wallet: cardOf(wallet) });
  // The hint about a slow wallet is not shown for a paired wallet: scanning a QR code takes longer, and the payer sees the code.
  if (wallet.kind !== 'paired') expectAnswer();
  try {
    const account = accountIn(await askWallet(provider, 'eth_requestAccounts'));
    if (signal.aborted) return;
    if (account === undefined) return dispatch({ type: 'stumbled', notice: 'walletNonsense' });
    dispatch({ type: 'connected', account });
    await loadOptions(context, signal);
  } catch (error) {
    if (!signal.aborted) dispatch({ type: 'stumbled', notice: noticeOf(error) });
  } finally {
    if (!signal.aborted) gotAnswer();
  }
}

/** Listens for a change of the wallet's account, and for the QR code of a paired wallet. Returns the function that stops listening. */
export function watchWallet(context: CheckoutContext, { provider, kind }: Wallet): () => void {
  const { flow, dispatch, begin } = context;
  const onAccounts = (payload: unknown) => {
    const accounts = accountsIn(payload);
    const { step } = flow();
    // A pending wallet request names its account, and is answered for that account even if the wallet now shows another.
    if (step.at === 'asking' && accounts.includes(step.session.account)) return;
    dispatch({ type: 'account_changed', account: accounts[0] ?? null });
    if (flow().step === step) return;
    const signal = begin();
    void loadOptions(context, signal);
  };
  const onCode = (code: unknown) => dispatch({ type: 'code_came', code: code as Code });
  try {
    provider.on?.('accountsChanged', onAccounts);
    if (kind === 'paired') provider.on?.('code', onCode);
  } catch {
    // Wallets without events are supported, too: the account is read again before each request.
  }
  return () => {
    provider.removeListener?.('accountsChanged', onAccounts);
    provider.removeListener?.('code', onCode);
  };
}
