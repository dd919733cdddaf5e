import { ChainUnavailableError, ContractFaultError, UnreadableAnswerError } from '../chain-errors.ts';
import type { Survey, SurveyAsk } from '../payer-side.ts';
import type { AssetTerms, EvmContext } from './evm-context.ts';
import type { RpcCall } from './json-rpc.ts';
import { allowanceCall, balanceCall, canReceive, refusedCall } from './token-calls.ts';

/** Reads the holdings of all payers in all assets. All calls start at the same moment, so they share a request. */
export async function survey(context: EvmContext, collector: string, ask: SurveyAsk): Promise<Survey> {
  const { surveyLens: lens, network, rpc } = context;
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

  /** Surveys one asset for all payers. A faulty token does not affect the other assets. */
  async function surveyAsset({ asset, recipient }: SurveyAsk['assets'][number]) {
    const terms = context.termsOf(asset);
    try {
      const [holdings, isReceivable] = await Promise.all([
        Promise.all(ask.payers.map((payer) => holding(payer, terms))),
        canReceive(lens, terms, { collector, recipient }, ask.timeoutMs),
      ]);
      return { asset, holdings, isReceivable, problem: undefined };
    } catch (error) {
      if (!(error instanceof ContractFaultError || error instanceof UnreadableAnswerError)) throw error;
      return { asset, holdings: [], isReceivable: true, problem: error.message };
    }
  }

  const work = Promise.all(ask.assets.map(surveyAsset));
  const late = new Promise<never>((_, reject) => {
    const cancel = context.world.timers.after(ask.timeoutMs, () => {
      const reason = ['the survey took too long', ...rpc.troubles()].join(', ');
      reject(new ChainUnavailableError(network.chainId, reason));
    });
    work.then(cancel, cancel);
  });
  const surveys = await Promise.race([work, late]);
  return {
    holdings: ask.payers.flatMap((_, payer) => surveys.flatMap(({ holdings }) => holdings[payer] ?? [])),
    unreceivable: surveys.flatMap(({ asset, isReceivable }) => (isReceivable ? [] : [asset])),
    faults: surveys.flatMap(({ asset, problem }) => (problem === undefined ? [] : [{ asset, problem }])),
  };
}
