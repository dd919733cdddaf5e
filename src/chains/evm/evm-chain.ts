import type { Item } from '../../domain/item.ts';
import type { Log, World } from '../../runtime/world.ts';
import type { Chain } from '../chain.ts';
import type { ChainReader, Witness } from '../chain-reader.ts';
import type { Network } from '../network.ts';
import type { PayerSide } from '../payer-side.ts';
import type { Sender } from '../sender.ts';
import { maxBatchItems, signBatch, signNothing, simulate } from './batches.ts';
import { findBlock, findTransaction, headCall } from './blocks.ts';
import { broadcastCall, broadcastToAll } from './broadcast.ts';
import { check } from './check.ts';
import { isPaymentShown } from './coin-payments.ts';
import { COLLECTOR_ADDRESS } from './collector.ts';
import { createEventDecoder, createEventReader } from './collector-events.ts';
import { COLLECTORS, type ContractRelease, releaseFor } from './collectors.ts';
import type { Endpoint } from './endpoint.ts';
import { createEvmContext } from './evm-context.ts';
import { suggestFees } from './fees.ts';
import { createTransferReaders, findCoinTransfer, listCoinTransfers } from './incoming.ts';
import { depositAddressOf, itemCommitment, sealedTerms, usualMethod } from './item-terms.ts';
import { judge } from './judge.ts';
import { offerOf, priceText } from './offer.ts';
import { raiseOffer } from './raise-fees.ts';
import { createRpc } from './rpc.ts';
import { findSent, listSent } from './sent.ts';
import { signItem } from './sign-item.ts';
import { survey } from './survey.ts';
import { balanceCall, coinBalanceCall, nonceCall, usedCall } from './token-calls.ts';
import type { Transport } from './transport.ts';
import { walletActions, walletSteps } from './wallet-actions.ts';
import { createWitness } from './witness.ts';

export interface EvmChainInput {
  readonly world: World;
  readonly network: Network;
  /** URLs of RPC endpoints, the preferred endpoint first. A test may pass its own transport. */
  readonly endpoints: readonly (string | Transport)[];
  /** The most calls per second to one provider. */
  readonly callsPerS?: number;
  readonly log?: Log;
  /** The hash of block 0, once it is known. An endpoint that reports another block 0 is on another chain, and is not asked. */
  readonly genesis?: () => string | undefined;
  /** The releases of the Collector. A test may pass others. */
  readonly collectors?: readonly ContractRelease[];
}

export function createEvmChain(input: EvmChainInput): Chain {
  const { world, network, endpoints, callsPerS, log, genesis, collectors = COLLECTORS } = input;
  const { finality } = network;
  if (finality === undefined) throw new RangeError(`${network.name} cannot be paid on`);
  if (endpoints.length === 0) throw new RangeError(`${network.name} has no endpoint`);
  const chainId = Number(network.chainId.replace('eip155:', ''));
  const { blockTimeMs } = finality;
  const limit = callsPerS === undefined ? {} : { callsPerS };
  const terms = { world, network: network.chainId, chainId, blockTimeMs, endpoints, genesis, ...limit };
  // Anybody can request options, and each request reads balances (a survey). Surveys have connections, breakers and a call budget
  // of their own, so that a flood of surveys delays no confirmation, transaction or watcher. When a provider refuses any call,
  // surveys slow down first.
  const surveyRpc = createRpc({ ...terms, isYielding: true });
  const rpc = createRpc({ ...terms, log, onThrottled: surveyRpc.slowDown });
  const context = createEvmContext({ world, network, chainId, rpc, surveyRpc, collectors });
  /** The releases found by the last check. Deposit addresses are offered only after a check. */
  let deployed = collectors;
  let depositContracts: readonly ContractRelease[] = [];
  const collector = () => releaseFor(world.clock.nowMs(), deployed)?.address;

  const commitmentOf = (item: Item) => itemCommitment(item, { chainId, token: context.termsOf(item.asset).token });

  /**
   * True if the endpoint works. A gateway node that only serves requests may have asked an endpoint for surveys alone, so their
   * connection counts, too.
   */
  const isUp = (endpoint: Endpoint, index: number) =>
    endpoint.isUp() || (endpoint.trouble() === undefined && surveyRpc.endpoints[index]?.isUp() === true);

  const decode = createEventDecoder(context);
  const witnesses = new Map(rpc.endpoints.map((endpoint) => [endpoint, createWitness(context, endpoint, decode)]));

  const reader: ChainReader = {
    network,
    head: () => rpc.call(headCall()),
    block: (number) => findBlock(context, number),
    events: createEventReader(context, { call: rpc.call, decode }),
    ...createTransferReaders(context, rpc.call),
    coinTransfers: (accounts, block) => listCoinTransfers(context, accounts, block),
    coinTransfer: (hash) => findCoinTransfer(context, hash),
    sentTransaction: (hash) => findSent(context, hash),
    sentTransactions: (accounts, block) => listSent(context, accounts, block),
    balance: (account, atBlock) => rpc.call(coinBalanceCall(account, atBlock)),
    holding: async (account, asset, atBlock) => rpc.call(balanceCall(context.heldIn(asset), account, atBlock)),
    isUsed: async (item, commitment, atBlock) =>
      rpc.call(usedCall(item, context.termsOf(item.asset), commitment, atBlock)),
    witnesses: () => rpc.inOrder().map((endpoint) => witnesses.get(endpoint) as Witness),
  };

  const payerSide: PayerSide = {
    network,
    collector,
    depositContract: () => releaseFor(world.clock.nowMs(), depositContracts)?.address,
    methodOf: (asset) => usualMethod(network.assets.get(asset)?.pay),
    commitmentOf,
    sealedTerms: (item) => sealedTerms(item, chainId),
    depositAddressOf,
    walletSteps: ({ asset, amount }, allowance) => walletSteps(context.termsOf(asset), amount, allowance),
    walletActions: (item, allowance) =>
      walletActions(item, context.termsOf(item.asset), chainId, commitmentOf(item), allowance),
    survey: (ask) => survey(context, collector() ?? COLLECTOR_ADDRESS, ask),
    judge: (item, signature, sender, onUnproved) =>
      judge(context, { item, commitment: commitmentOf(item), signature, sender, onUnproved }),
    isPaymentShown: (item, hash) => isPaymentShown(context, item, hash),
  };

  const sender: Sender = {
    network,
    simulate: (batch, how) => simulate(context, batch, how),
    signItem: (signer, item) =>
      signItem(signer, item, { terms: context.termsOf(item.asset), chainId, commitment: commitmentOf(item) }),
    maxBatchItems,
    usedSlots: (signer) => rpc.call(nonceCall(signer)),
    suggestOffer: async () => offerOf(await suggestFees(context)),
    raiseOffer,
    priceText,
    signBatch: (signer, batch, bid) => signBatch(context, signer, batch, bid),
    signNothing: (signer, bid) => signNothing(context, signer, bid),
    broadcast: async (bytes, how) =>
      how?.isRepeated ? broadcastToAll(context, bytes) : rpc.call(broadcastCall(bytes)),
    findTransaction: (hash) => findTransaction(context, hash),
  };

  return {
    network,
    reader,
    payerSide,
    sender,
    check: async () => {
      const found = await check(context);
      deployed = found.collectors;
      depositContracts = found.depositContracts;
      return found;
    },
    health: () => ({
      endpoints: rpc.endpoints.length,
      endpointsUp: rpc.endpoints.filter(isUp).length,
      headNumber: highestOf(rpc.head(), surveyRpc.head()),
      states: rpc.endpoints.map((endpoint, index) => ({
        name: endpoint.name,
        isUp: isUp(endpoint, index),
        trouble: endpoint.trouble(),
      })),
    }),
    close: () => {
      rpc.close();
      surveyRpc.close();
    },
  };
}

function highestOf(...heads: readonly (number | undefined)[]): number | undefined {
  const highest = Math.max(...heads.flatMap((head) => head ?? []));
  return Number.isFinite(highest) ? highest : undefined;
}
