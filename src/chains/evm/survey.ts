import { ChainUnavailableError, type Survey, type SurveyAsk, UnreadableAnswerError } from '../chain.ts';
import type { AssetTerms, EvmContext } from './evm-context.ts';
import type { RpcCall } from './json-rpc.ts';
import { allowanceCall, balanceCall, canReceive, refusedCall } from './token-calls.ts';

/** Everything the options of a request need. All calls start in the same moment, so they travel together. */
export async function survey(context: EvmContext, ask: SurveyAsk): Promise<Survey> {
  const { lens, network, rpc } = context;
  const call = <T>(asked: RpcCall<T>) => lens.ask(asked, ask.timeoutMs);

  async function holding(payer: string, terms: AssetTerms) {
    const refused = refusedCall(terms, payer);
    const [balance, allowance, isRefused] = await Promise.all([
      call(balanceCall(terms, payer)),
      terms.pay.method === 'permit2' ? call(allowanceCall(terms, payer)) : 0n,
      refused === undefined ? false : call(refused),
    ]);
    return { payer, asset: terms.known.id, balance, allowance, isRefused };
  }

  /** One asset. A contract whose answers cannot be read is set aside, and hides no other. */
  async function look(asset: string, recipient: string) {
    const terms = context.termsOf(asset);
    try {
      const [holdings, isReceivable] = await Promise.all([
        Promise.all(ask.payers.map((payer) => holding(payer, terms))),
        canReceive(lens, terms, recipient, ask.timeoutMs),
      ]);
      return { asset, holdings, isReceivable };
    } catch (error) {
      if (error instanceof UnreadableAnswerError) return { asset, reason: error.message };
      throw error;
    }
  }

  const work = Promise.all(ask.assets.map(({ asset, recipient }) => look(asset, recipient)));
  const late = new Promise<never>((_, reject) => {
    const cancel = context.world.timers.after(ask.timeoutMs, () => {
      const reason = ['the survey took too long', ...rpc.troubles()].join(', ');
      reject(new ChainUnavailableError(network.chainId, reason));
    });
    work.then(cancel, cancel);
  });
  const looks = await Promise.race([work, late]);
  return {
    holdings: ask.payers.flatMap((_, index) => looks.flatMap(({ holdings }) => holdings?.[index] ?? [])),
    unreceivable: looks.flatMap(({ asset, isReceivable }) => (isReceivable === false ? [asset] : [])),
    unreadable: looks.flatMap(({ asset, reason }) => (reason === undefined ? [] : [{ asset, reason }])),
  };
}
