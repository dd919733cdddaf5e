import { isDeepStrictEqual } from 'node:util';
import { type Item, isByDeposit, ownPayment, type SignedItem } from '../../domain/item.ts';
import type { Chain } from '../chain.ts';
import { ChainUnavailableError } from '../chain-errors.ts';
import type { Block, ChainReader, SentTransaction } from '../chain-reader.ts';
import { maxBatchItems } from '../evm/batches.ts';
import { COLLECTOR_ADDRESS } from '../evm/collector.ts';
import { DEPOSITS_ADDRESS } from '../evm/deposits.ts';
import { usualMethod } from '../evm/item-terms.ts';
import { isContractSignature, readKeySignature } from '../evm/key-signature.ts';
import { feesOf, offerOf, priceText } from '../evm/offer.ts';
import { raiseOffer } from '../evm/raise-fees.ts';
import type { Holding, PayerSide, Survey, SurveyAsk, Verdict } from '../payer-side.ts';
import type { RefusalReason } from '../refusal-reason.ts';
import type { Bid, BroadcastOutcome, ItemOutcome, Sender, SignedTransaction, TransactionState } from '../sender.ts';
import type { Signer } from '../signer.ts';
import type { MinedBlock } from './blocks.ts';
import { createControl, type MemoryChainControl } from './control.ts';
import { type Core, checkBatch, createCore, gasLimitOf, type MemoryChainOptions } from './core.ts';
import { misquote } from './faults.ts';
import { COIN, checkSignature, collect, keys, type Ledger, payCoin, Refusal, transfer } from './ledger.ts';
import { sweep } from './sweep.ts';
import { addedAt, HONEST_TESTIMONY, inOrder, reportedFees } from './testimony.ts';
import { type Draft, readTransaction, signDraft } from './transactions.ts';
import { incomingOf, listWitnesses } from './witness.ts';

export interface MemoryChain {
  readonly chain: Chain;
  /** Changes the chain, for tests. */
  readonly control: MemoryChainControl;
}

/**
 * A chain in memory with the rules of a real chain, for tests and simulations. It is deterministic, has no clock or timer of its
 * own, and can simulate every fault of an endpoint.
 */
export function createMemoryChain(options: MemoryChainOptions): MemoryChain {
  const core = createCore(options);
  return { chain: createPort(core), control: createControl(core) };
}

function createPort(core: Core): Chain {
  const { network, rules, history, blocks, mempool, faults, market } = core;
  const { ask, lies } = faults;
  const visibleHead = (): MinedBlock => blocks.at(Math.max(0, blocks.head().number - lies.headLag)) as MinedBlock;
  /** The endpoint that answers when a single endpoint is asked. */
  const speaker = () => inOrder(core.testimonies)[0] ?? HONEST_TESTIMONY;
  const reportedBlock = ({ timestampS, ...header }: Block): Block => ({
    ...header,
    timestampS: timestampS + speaker().addsToTimesS,
  });
  const asSpoken = (sent: SentTransaction) => ({ ...sent, coinSpent: sent.coinSpent + speaker().addsToCosts });
  /** True if the first two endpoints refuse every item. An endpoint without an answer is ignored if another one answers. */
  const bothRefuse = () => {
    const asked = [speaker(), ...inOrder(core.testimonies).slice(1, 2)];
    const answering = asked.filter(({ silentForMs }) => silentForMs === undefined);
    return (answering.length > 0 ? answering : asked).every(({ refuses }) => refuses);
  };
  const ledgerNow = () => core.ledger(history.fork(), core.nextTimestampS());

  /**
   * The ledger after block `atBlock`, or after the newest block by default. Throws `ChainUnavailableError` if the block does not
   * exist yet.
   */
  function ledgerAt(atBlock: number | undefined): Ledger {
    if (atBlock === undefined) return ledgerNow();
    const block = atBlock > visibleHead().number ? undefined : blocks.at(atBlock);
    if (block === undefined) throw new ChainUnavailableError(network.chainId, 'the block is not known');
    return core.ledger(history.fork(atBlock), block.timestampS);
  }

  const sign = async (signer: Signer, payload: Draft['payload'], { slot, offer }: Bid): Promise<SignedTransaction> => {
    const gasLimit = gasLimitOf(payload);
    const fees = feesOf(offer);
    const draft = { network: network.chainId, from: signer.address, nonce: slot, fees, gasLimit, payload };
    return { ...(await signDraft(draft, signer)), cost: gasLimit * fees.max };
  };

  const reader: ChainReader = {
    network,
    head: () => ask('head', () => reportedBlock(headerOf(visibleHead()))),
    block: (number) =>
      ask('block', () => {
        const block = number > visibleHead().number ? undefined : blocks.at(number);
        if (block === undefined) return undefined;
        const reported = reportedBlock(headerOf(block));
        return number === lies.wrongHashAt ? misquote(reported) : reported;
      }),
    events: (fromBlock, toBlock) =>
      ask('events', () => {
        if (toBlock > visibleHead().number) throw new ChainUnavailableError(network.chainId, 'the block is not known');
        if (lies.emptyEvents > 0) {
          lies.emptyEvents -= 1;
          return [];
        }
        const isAsked = (number: number) => number >= fromBlock && number <= toBlock;
        const reported = [];
        for (let number = Math.max(0, fromBlock); number <= toBlock; number += 1) {
          reported.push(...(blocks.at(number)?.events ?? []));
        }
        return [...reported, ...lies.inventedEvents.filter(({ block }) => isAsked(block.number))];
      }),
    incoming: (accounts, fromBlock, toBlock) =>
      ask('incoming', () => {
        if (toBlock > visibleHead().number) throw new ChainUnavailableError(network.chainId, 'the block is not known');
        return incomingOf(core, speaker(), { accounts, fromBlock, toBlock });
      }),
    touching: (accounts, fromBlock, toBlock) =>
      ask('incoming', () => {
        if (toBlock > visibleHead().number) throw new ChainUnavailableError(network.chainId, 'the block is not known');
        return incomingOf(core, speaker(), { accounts, fromBlock, toBlock, hasDepartures: true });
      }),
    coinTransfers: (accounts, number) =>
      ask('coinTransfers', () => {
        const block = number > visibleHead().number ? undefined : blocks.at(number);
        if (block === undefined) throw new ChainUnavailableError(network.chainId, 'the block is not known');
        const invented = speaker().inventedTransfers.filter((each) => each.block.number === number);
        return [...block.transfers, ...invented].filter(({ to, logIndex }) => logIndex < 0 && accounts.includes(to));
      }),
    coinTransfer: (hash) =>
      ask('coinTransfer', () =>
        blocks
          .holding(hash)
          ?.transfers.find(({ transactionHash, logIndex }) => transactionHash === hash && logIndex < 0),
      ),
    sentTransaction: (hash) =>
      ask('sentTransaction', () => {
        const block = blocks.holding(hash);
        return (
          block &&
          sentIn(block)
            .map(asSpoken)
            .find((sent) => sent.hash === hash)
        );
      }),
    sentTransactions: (accounts, number) =>
      ask('sentTransactions', () => {
        const block = number > visibleHead().number ? undefined : blocks.at(number);
        if (block === undefined) throw new ChainUnavailableError(network.chainId, 'the block is not known');
        return sentIn(block)
          .map(asSpoken)
          .filter(({ from }) => accounts.includes(from));
      }),
    balance: (account, atBlock) =>
      ask('balance', () => {
        const { state } = atBlock === undefined ? history : ledgerAt(atBlock);
        return state.get(keys.balance(COIN, account)) + addedAt(speaker(), atBlock ?? visibleHead().number);
      }),
    holding: (account, asset, atBlock) =>
      ask('holding', () => {
        const held = rules.isCoin(asset) ? COIN : asset;
        const { state } = ledgerAt(atBlock);
        return state.get(keys.balance(held, account)) + addedAt(speaker(), atBlock);
      }),
    isUsed: (item, commitment, atBlock) =>
      ask('isUsed', () => ledgerAt(atBlock).state.get(keys.used(item, commitment)) !== 0n),
    witnesses: () => listWitnesses(core),
  };

  const payerSide: PayerSide = {
    network,
    collector: () => COLLECTOR_ADDRESS,
    depositContract: () => DEPOSITS_ADDRESS,
    methodOf: (asset) => usualMethod(rules.assets.get(asset)?.pay),
    commitmentOf: rules.commitmentOf,
    sealedTerms: rules.sealedTerms,
    depositAddressOf: rules.depositAddressOf,
    walletSteps: rules.walletSteps,
    walletActions: rules.walletActions,
    survey: (asked) => ask('survey', () => survey(ledgerNow(), core, asked)),
    judge: (item, signature, _sender, onUnproved) =>
      ask('judge', () => {
        const verdict = judge(ledgerNow(), core, item, signature);
        // For an account without code, a signature is judged by the key alone, without a request to the chain.
        const isByKey = verdict.is.endsWith('_signature') && !core.codes.has(item.payer.toLowerCase());
        if (isUnproved(ledgerNow(), item, signature) || (verdict.is !== 'good' && !isByKey)) onUnproved?.();
        return bothRefuse() && verdict.is === 'good' ? { is: 'refused', reason: 'unknown' } : verdict;
      }),
    isPaymentShown: (item, hash) => ask('isPaymentShown', () => isPaymentShown(core, item, hash.toLowerCase())),
  };

  const sender: Sender = {
    network,
    simulate: (batch, how = {}) =>
      ask('simulate', () => {
        const outcomes = simulate(ledgerAt(how.atBlock), batch);
        return (how.isDoubted ? bothRefuse() : speaker().refuses) ? outcomes.map(() => UNKNOWN) : outcomes;
      }),
    signItem: rules.signItem,
    maxBatchItems,
    usedSlots: (signer) => ask('usedSlots', () => Number(history.state.get(keys.nonce(signer)))),
    suggestOffer: () =>
      ask('suggestOffer', () => {
        const { base, tip } = reportedFees(core.testimonies, market);
        return offerOf({ max: base * 2n + tip, tip });
      }),
    raiseOffer,
    priceText,
    signBatch: async (signer, batch, bid) => sign(signer, { kind: 'batch', batch }, bid),
    signNothing: (signer, bid) => sign(signer, { kind: 'nothing' }, bid),
    broadcast: (bytes, how) =>
      ask('broadcast', () => {
        const asked = [speaker(), ...(how?.isRepeated ? core.testimonies : [])];
        return asked.every(({ swallows }) => swallows) ? 'accepted' : broadcast(core, bytes);
      }),
    findTransaction: (hash) =>
      ask('findTransaction', (): TransactionState => {
        const block = blocks.holding(hash);
        const receipt = block?.receipts.get(hash);
        if (block === undefined || receipt === undefined) return { is: mempool.has(hash) ? 'pending' : 'unknown' };
        const { isReverted, workSpent, coinSpent } = receipt;
        const cost = coinSpent + speaker().addsToCosts;
        return {
          is: 'mined',
          block: { number: block.number, hash: block.hash },
          isReverted,
          workSpent,
          coinSpent: cost,
        };
      }),
  };

  return {
    network,
    reader,
    payerSide,
    sender,
    check: () =>
      ask('check', () => ({
        payable: [...rules.assets.keys()].filter((asset) => !core.problems.has(asset)),
        unchecked: [],
        problems: [...core.problems].map(([subject, message]) => ({ subject, message })),
        disputes: [],
      })),
    health: () => {
      const states = core.testimonies.map(({ name, silentForMs }) => {
        const isUp = !faults.isDown() && silentForMs === undefined;
        return { name, isUp, trouble: isUp ? undefined : 'is out of reach' };
      });
      const endpointsUp = states.filter(({ isUp }) => isUp).length;
      return { endpoints: states.length, endpointsUp, headNumber: visibleHead().number, states };
    },
    close: () => {},
  };
}

function isPaymentShown({ rules, blocks, mempool }: Core, item: Item, hash: string): boolean {
  const block = blocks.holding(hash);
  const mined = block?.entries.flatMap((entry) => ('transaction' in entry ? [entry.transaction] : [])) ?? [];
  const found = [...mined, ...mempool.list()].find((transaction) => transaction.hash === hash);
  if (found?.payload.kind !== 'act' || block?.receipts.get(hash)?.isReverted) return false;
  const [action] = rules.walletActions(item, 0n);
  return isDeepStrictEqual(found.payload.call, action?.params[0]);
}

function survey(ledger: Ledger, core: Core, { payers, assets }: SurveyAsk): Survey {
  const { state } = ledger;
  const hasNothing = inOrder(core.testimonies)[0]?.deniesFunds === true;
  const holdings = payers.flatMap((payer) =>
    assets.map(({ asset }): Holding => {
      const method = core.rules.assets.get(asset)?.pay.method;
      return {
        payer,
        asset,
        balance: hasNothing ? 0n : state.get(keys.balance(method === 'native' ? COIN : asset, payer)),
        allowance: method === 'permit2' && !hasNothing ? state.get(keys.allowance(asset, payer)) : 0n,
        isRefused: state.get(keys.blacklisted(asset, payer)) !== 0n,
      };
    }),
  );
  const unreceivable = assets.filter(({ asset, recipient }) => {
    const tried = tryOut(() => transfer(ledger, asset, ledger.collector, recipient, 0n));
    return tried.is === 'refused';
  });
  return { holdings, unreceivable: [...new Set(unreceivable.map(({ asset }) => asset))], faults: [] };
}

/** True if the account's key did not make the signature, but code of the account could accept it. */
function isUnproved(ledger: Ledger, item: Item, signature: string): boolean {
  const mayBeOfCode = item.method !== 'native' && !item.method.endsWith('-vrs') && isContractSignature(signature);
  return mayBeOfCode && ledger.signerOf(item, signature) !== item.payer.toLowerCase();
}

function judge(ledger: Ledger, core: Core, item: Item, signature: string): Verdict {
  if (item.method === 'native') return { is: 'malformed_signature' };
  const hasCode = core.codes.has(item.payer.toLowerCase());
  // The older form of EIP-3009 (v, r, s) accepts only the signature of a key, not that of a contract.
  const mayBeContract = hasCode && !item.method.endsWith('-vrs');
  if (mayBeContract ? !isContractSignature(signature) : readKeySignature(signature) === undefined) {
    return { is: 'malformed_signature' };
  }
  const commitment = ledger.commitmentOf(item);
  if (!hasCode) {
    const { state } = ledger;
    if (ledger.signerOf(item, signature) !== item.payer.toLowerCase()) return { is: 'wrong_signature' };
    if (state.get(keys.used(item, commitment)) !== 0n) return { is: 'used' };
    if (state.get(keys.balance(item.asset, item.payer)) < item.amount) return { is: 'short_balance' };
    const allowance = item.method === 'permit2' ? state.get(keys.allowance(item.asset, item.payer)) : item.amount;
    if (allowance < item.amount) return { is: 'short_allowance' };
  }
  const balance = ledger.state.get(keys.balance(item.asset, item.payer));
  const [outcome] = simulate(ledger, [{ item, commitment, signature, hasCode }]);
  if (outcome === undefined || outcome.is === 'paid') return { is: 'good', hasCode, balance };
  const { reason } = outcome;
  // Tokens and Permit2 check the nonce before the signature. So the signature of an item with a used nonce is checked here.
  if (reason === 'used' && tryOut(() => checkSignature(ledger, item, signature)).is === 'refused') {
    return { is: 'wrong_signature' };
  }
  if (reason === 'wrong_signature' || reason === 'used') return { is: reason };
  if (reason === 'short_balance' || reason === 'short_allowance') return { is: reason };
  return { is: 'refused', reason };
}

function simulate(ledger: Ledger, batch: readonly SignedItem[]): readonly ItemOutcome[] {
  const own = ownPayment(batch);
  if (own !== undefined) return [tryOut(() => payCoin(ledger, own, own.amount))];
  const { item } = checkBatch(batch);
  if (isByDeposit(item.method)) return sweep(ledger, batch).outcomes;
  const shortages = batch.map((signed) => shortageOf(ledger, signed));
  let outcomes: readonly ItemOutcome[] = [];
  const whole = tryOut(() => {
    outcomes = collect(ledger, batch).outcomes;
  });
  // The revert of a whole batch gives no information about a single item.
  const reported = whole.is === 'paid' ? outcomes : batch.map(() => UNKNOWN);
  return reported.map((outcome, index) => {
    const shortage = shortages[index];
    const isVague = outcome.is === 'refused' && VAGUE.includes(outcome.reason);
    return isVague && shortage !== undefined ? { is: 'refused', reason: shortage } : outcome;
  });
}

const UNKNOWN: ItemOutcome = { is: 'refused', reason: 'unknown' };
/** Reasons of a refusal that do not show its cause. The balance, the allowance and the nonce are then read to find the cause. */
const VAGUE: readonly RefusalReason[] = ['out_of_gas', 'short_arrival', 'unknown'];

function shortageOf({ state }: Ledger, { item, commitment }: SignedItem): RefusalReason | undefined {
  if (state.get(keys.used(item, commitment)) !== 0n) return 'used';
  if (state.get(keys.balance(item.asset, item.payer)) < item.amount) return 'short_balance';
  const isAllowed = item.method !== 'permit2' || state.get(keys.allowance(item.asset, item.payer)) >= item.amount;
  return isAllowed ? undefined : 'short_allowance';
}

function tryOut(work: () => void): ItemOutcome {
  try {
    work();
    return { is: 'paid' };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return { is: 'refused', reason: error.reason };
  }
}

function broadcast(core: Core, bytes: string): BroadcastOutcome {
  const transaction = readTransaction(bytes, core.network.chainId);
  if (transaction === undefined) throw new ChainUnavailableError(core.network.chainId, 'the answer is unclear');
  const fate = core.faults.nextFate();
  if (fate === 'lost') throw new ChainUnavailableError(core.network.chainId, 'out of reach');
  if (fate === 'forgotten') return 'accepted';
  if (fate === 'held') {
    core.held.push(transaction);
    return 'accepted';
  }
  const outcome = core.submit(transaction);
  if (fate === 'answer_lost') throw new ChainUnavailableError(core.network.chainId, 'the answer was lost');
  return outcome;
}

function sentIn({ number, hash: blockHash, entries, receipts }: MinedBlock): SentTransaction[] {
  return entries.flatMap((entry) => {
    if ('decree' in entry) return [];
    const { hash, from, nonce } = entry.transaction;
    return [
      { hash, from, slot: nonce, block: { number, hash: blockHash }, coinSpent: receipts.get(hash)?.coinSpent ?? 0n },
    ];
  });
}

const headerOf = ({ number, hash, parentHash, timestampS }: Block): Block => ({ number, hash, parentHash, timestampS });
