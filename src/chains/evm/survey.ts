import { ChainUnavailableError, type Survey, type SurveyAsk } from '../chain.ts';
import type { AssetTerms, EvmContext } from './evm-context.ts';
import type { RpcCall } from './json-rpc.ts';
import { allowanceCall, balanceCall, canReceive, refusedCall } from './token-calls.ts';

/** Everything the options of a request need. All calls start in the same moment, so they travel together. */
export async function survey(context: EvmContext, ask: SurveyAsk): Promise<Survey> {
  const { lens, network } = context;
  const wanted = ask.assets.map(({ asset, recipient }) => ({ terms: context.termsOf(asset), recipient }));
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

  const work = Promise.all([
    Promise.all(ask.payers.flatMap((payer) => wanted.map(({ terms }) => holding(payer, terms)))),
    Promise.all(wanted.map(({ terms, recipient }) => canReceive(lens, terms, recipient, ask.timeoutMs))),
  ]);
  const late = new Promise<never>((_, reject) => {
    const cancel = context.world.timers.after(ask.timeoutMs, () =>
      reject(new ChainUnavailableError(network.chainId, 'the survey took too long')),
    );
    work.then(cancel, cancel);
  });
  const [holdings, receivable] = await Promise.race([work, late]);
  return {
    holdings,
    unreceivable: wanted.flatMap(({ terms }, index) => (receivable[index] ? [] : [terms.known.id])),
  };
}
