import { ChainUnavailableError } from '../../chains/chain-errors.ts';
import type { ConnectedChain } from '../../chains/chains.ts';
import type { Holding, Survey } from '../../chains/payer-side.ts';
import type { Account } from '../../domain/caip.ts';
import { compareRank, OPTION_NONCE_BYTES, type Option, sealOption, timesOf } from '../../domain/option.ts';
import { refusalOfStock } from '../../domain/payment-link.ts';
import { type Rate, recordRate } from '../../domain/rate.ts';
import { ApiError } from '../../errors.ts';
import type { SparseWarning } from '../../runtime/sparse-log.ts';
import type { Log } from '../../runtime/world.ts';
import { findUnderWay, type UnderWay } from '../../store/chain/due-items.ts';
import type { Payment } from '../../store/payments/payments.ts';
import type { Database } from '../../store/plumbing/database.ts';
import type { Alarms } from '../alarms.ts';
import { sealItem } from '../subject-keys.ts';
import { findStockFor } from './links/link-stock.ts';
import { balanceUnderWay, payerBusy, refuseScreened } from './option-refusals.ts';
import { type PayableAsset, payableAssets } from './payable-assets.ts';
import { type PayerLimits, payerOf } from './payer-places.ts';
import type { Script } from './rehearsal.ts';
import { openNetworks } from './served-networks.ts';
import { type OptionDeps, promiseOf, readTerms, type Terms } from './terms-in-force.ts';
import { listedActions, type OptionAction, walletRequests } from './wallet-requests.ts';

export interface ListOptionsDeps extends OptionDeps {
  readonly db: Database;
  readonly payerLimits: PayerLimits;
  readonly log: Log;
  /** Warns of networks that are left out. It is throttled, because an outage may concern every request. */
  readonly warn: SparseWarning;
  /** The alert for an asset that is left out because its contract cannot be read. */
  readonly leftOut: Alarms;
}

/** An account that could pay, with the spelling that the wallet used and gets back. */
export interface OfferedAccount extends Account {
  readonly spelling: string;
}

export interface ListedOption {
  readonly id: string;
  readonly option: Option;
  readonly etaS: number;
  readonly actions: readonly OptionAction[];
  /** The exchange rate of the amount; null at par. */
  readonly rate: Rate | null;
}

/** The time limit for the networks' answers. A payer waits for the list, so a network that has not answered by then is left out. */
const SURVEY_MS = 2_500;
/**
 * The time that the other networks have after the first one has answered, because the options of a fast network must not wait for a slow
 * one.
 */
const GRACE_MS = 800;
/**
 * The most actions of an option. Existing wallets execute one action, or an approval and a signature. They fail at a third action, which
 * would reset an old allowance before the approval.
 */
const MAX_ACTIONS = 2;

/** Every way in which these accounts can pay the payment now, the best first. */
export async function listOptions(
  deps: ListOptionsDeps,
  { payment, accounts }: { payment: Payment; accounts: readonly OfferedAccount[] },
): Promise<readonly ListedOption[]> {
  const script = await deps.rehearsal.scriptOf(payment);
  refuseScreened(
    script.screening ?? deps.screening,
    accounts.map(({ id }) => id),
  );
  const [terms, open, stock] = await Promise.all([
    readTerms(deps, payment),
    openNetworks(deps, payment.mode),
    findStockFor(deps.db.sql, payment),
  ]);
  if (terms.isStopped || terms.isBelowFees || (stock && refusalOfStock(stock)) !== undefined) return [];
  const networks = open
    .map((connected) =>
      networkOffer(deps, { payment, accounts, terms, connected, script, takesCoin: stock === undefined }),
    )
    .filter((network) => network.accounts.length > 0 && network.offers.length > 0);
  const ids = accounts.map(({ id }) => id);
  const [surveys, underWay] = await Promise.all([
    surveyAll(deps, networks),
    findUnderWay(deps.db.sql, ids, new Date(deps.world.clock.nowMs())),
  ]);
  const found = networks.flatMap((network, index) =>
    optionsOn(deps, { payment, terms, network, found: surveys[index] }),
  );
  // Options that `confirm` would refuse are not listed.
  const refusals = found.map((option) => refusalOf(deps, option, underWay));
  const listed = found.filter((_, index) => refusals[index] === undefined);
  const [refusal] = refusals;
  if (listed.length === 0 && refusal !== undefined) throw refusal;
  // An empty list is an answer only if every network has answered.
  const silent = networks.filter((_, index) => surveys[index] === undefined);
  if (listed.length === 0 && silent.length > 0) throw unavailable(silent);
  return listed
    .sort((a, b) => compareRank(a.rank, b.rank))
    .map(({ rank: _rank, balance: _balance, ...option }) => option);
}

/**
 * The reason why an option cannot be taken. Payments of its account that are under way are limited in number, and need its balance.
 * Undefined if the option can be taken.
 */
function refusalOf(
  { payerLimits: { openItemsPerPayer = Number.POSITIVE_INFINITY } }: ListOptionsDeps,
  { option: { item }, balance }: { readonly option: Option; readonly balance: bigint },
  underWay: ReadonlyMap<string, UnderWay>,
): ApiError | undefined {
  const { count, amounts } = underWay.get(payerOf(item)) ?? { count: 0, amounts: new Map<string, bigint>() };
  // A payer's own transaction costs us no gas, so the limit does not apply.
  if (item.method === 'native') return undefined;
  if (count >= openItemsPerPayer) return payerBusy();
  return (amounts.get(item.asset) ?? 0n) + item.amount > balance ? balanceUnderWay() : undefined;
}

function unavailable(networks: readonly NetworkOffer[]): ApiError {
  const names = networks.map(({ connected }) => connected.chain.network.name).join(', ');
  return new ApiError('internal_error', `${names} could not be asked. Try again.`, { status: 503, retryAfterS: 1 });
}

/** The possible offers of one network, before its balances are read. */
interface NetworkOffer {
  readonly connected: ConnectedChain;
  readonly etaS: number;
  readonly accounts: readonly OfferedAccount[];
  readonly offers: readonly AssetOffer[];
}

interface AssetOffer extends PayableAsset {
  readonly recipient: string;
}

interface NetworkInput {
  readonly payment: Payment;
  readonly accounts: readonly OfferedAccount[];
  readonly terms: Terms;
  readonly connected: ConnectedChain;
  readonly script: Script;
  /**
   * True if native coin may be offered. False for a link with a stock: a payer's own transaction could come after the last piece is
   * taken.
   */
  readonly takesCoin: boolean;
}

function networkOffer(deps: ListOptionsDeps, input: NetworkInput): NetworkOffer {
  const { payment, accounts, terms, connected, script, takesCoin } = input;
  const isRehearsed = ({ asset }: PayableAsset) => script.methods?.includes(asset.pay.method) ?? true;
  const { network } = connected.chain;
  const { blockTimeMs = 0, depth = 0 } = network.finality ?? {};
  return {
    connected,
    etaS: Math.max(1, Math.ceil((blockTimeMs * depth) / 1000)),
    accounts: accounts.filter(({ chainId }) => chainId === network.chainId),
    offers: payableAssets(deps, payment, connected)
      .filter(isRehearsed)
      .filter(({ asset }) => takesCoin || asset.pay.method !== 'native')
      .map((payable) => ({ ...payable, recipient: terms.recipientOf(connected, payable.asset.id) })),
  };
}

/** The answer of each network about all accounts and assets. Undefined for a network that did not answer in time. */
async function surveyAll(
  deps: ListOptionsDeps,
  networks: readonly NetworkOffer[],
): Promise<readonly (Survey | undefined)[]> {
  const { world } = deps;
  const { promise: tooLate, resolve: giveUp } = Promise.withResolvers<typeof LATE>();
  const timers = [world.timers.after(SURVEY_MS, () => giveUp(LATE))];
  const inTime = async (network: NetworkOffer) => {
    const found = await Promise.race([survey(deps, network), tooLate]);
    if (found === LATE) return leaveOut(deps, network, 'it did not answer in time');
    if (found !== undefined) timers.push(world.timers.after(GRACE_MS, () => giveUp(LATE)));
    return found;
  };
  try {
    return await Promise.all(networks.map(inTime));
  } finally {
    for (const cancelTimer of timers) cancelTimer();
  }
}

const LATE = Symbol('late');

async function survey(deps: ListOptionsDeps, network: NetworkOffer): Promise<Survey | undefined> {
  const { connected, accounts, offers } = network;
  try {
    const found = await connected.chain.payerSide.survey({
      payers: accounts.map(({ address }) => address),
      assets: offers.map(({ asset, recipient }) => ({ asset: asset.id, recipient })),
      timeoutMs: SURVEY_MS,
    });
    noteFaults(deps, offers, found);
    return found;
  } catch (error) {
    // A bug in reading one chain must not remove the options of the other chains.
    if (!(error instanceof ChainUnavailableError)) {
      deps.log.error({ err: error, network: connected.chain.network.chainId }, 'the network could not be surveyed');
      return undefined;
    }
    return leaveOut(deps, network, error.message);
  }
}

function leaveOut({ warn }: ListOptionsDeps, { connected }: NetworkOffer, reason: string): undefined {
  const { chainId } = connected.chain.network;
  warn(chainId, { network: chainId, reason }, 'left out of options');
}

/** Raises alerts for assets that cannot be offered. Runs in the background, so that no request waits for it. */
function noteFaults({ leftOut, log }: ListOptionsDeps, offers: readonly AssetOffer[], { faults }: Survey): void {
  const reasons = new Map(faults.map(({ asset, problem }) => [asset, problem]));
  for (const { asset } of offers) {
    const reason = reasons.get(asset.id);
    const message = reason && `${asset.symbol} is not offered, because it does not behave as a token: ${reason}.`;
    leftOut
      .set(asset.id, message)
      .catch((error: unknown) => log.warn({ err: error, asset: asset.id }, 'an alert could not be stored'));
  }
}

interface OptionsInput {
  readonly payment: Payment;
  readonly terms: Terms;
  readonly network: NetworkOffer;
  readonly found: Survey | undefined;
}

function optionsOn(deps: ListOptionsDeps, { payment, terms, network, found }: OptionsInput) {
  if (found === undefined) return [];
  const holdings = new Map(found.holdings.map((holding) => [`${holding.payer} ${holding.asset}`, holding]));
  return network.offers
    .filter(({ asset }) => !found.unreceivable.includes(asset.id))
    .flatMap((offer) =>
      network.accounts.flatMap((account) => {
        const holding = holdings.get(`${account.address} ${offer.asset.id}`);
        if (holding === undefined || !canPay(offer, holding)) return [];
        return listedOption(deps, { payment, terms, network, offer, account, holding }) ?? [];
      }),
    );
}

/** True if the balance suffices. A payer's own transaction also costs gas, so the amount may not be the whole balance of the coin. */
function canPay({ asset, quote }: AssetOffer, { balance, isRefused }: Holding): boolean {
  return !isRefused && (asset.pay.method === 'native' ? balance > quote.amount : balance >= quote.amount);
}

interface ListedInput extends Omit<OptionsInput, 'found'> {
  readonly offer: AssetOffer;
  readonly account: OfferedAccount;
  readonly holding: Holding;
}

function listedOption(deps: ListOptionsDeps, input: ListedInput) {
  const { payment, terms, network, offer, account, holding } = input;
  const { connected } = network;
  const { asset, quote } = offer;
  const cost = { asset: asset.id, amount: quote.amount };
  const steps = connected.chain.payerSide.walletSteps(cost, holding.allowance);
  if (steps.length > MAX_ACTIONS) return undefined;
  const needsTransaction = steps.includes('transaction');
  const times = timesOf({
    nowMs: deps.world.clock.nowMs(),
    paymentExpiresAtS: payment.expiresAt.getTime() / 1000,
    method: asset.pay.method,
    needsTransaction,
    isRateBound: quote.rate !== null,
  });
  if (times === undefined) return undefined;
  const { deadlineS, expiresAtS } = times;
  const promised = promiseOf({ payment, terms, connected, payable: offer, payer: account.address, deadlineS });
  if (promised === undefined) return undefined;
  const { item } = promised;
  const sealed = sealItem(deps, connected.chain.payerSide, item, payment.sealedId);
  const requests = walletRequests(connected.chain.payerSide, sealed, holding.allowance);
  const option: Option = {
    ...promised,
    account: account.spelling,
    quote: quote.rate && recordRate(quote.rate),
    expiresAtS,
    steps,
  };
  const rank = { isAtPar: quote.rate === null, needsTransaction, etaS: network.etaS };
  return {
    id: sealOption(deps.optionKeys, option, deps.world.random.bytes(OPTION_NONCE_BYTES)),
    option,
    etaS: network.etaS,
    actions: listedActions(item, requests),
    rate: quote.rate,
    rank,
    balance: holding.balance,
  };
}
