import { type Chains, type ConnectedChain, intermediateSignerAt } from '../../chains/chains.ts';
import type { Signer } from '../../chains/signer.ts';
import { isSameAddress } from '../../domain/addresses/families.ts';
import { ApiError } from '../../errors.ts';
import { findDepositAddresses } from '../../store/chain/deposits.ts';
import type { OwnAccount } from '../../store/chain/own-accounts.ts';
import { type AccountRest, countAccountRest } from '../../store/money/account-rest.ts';
import { findDestinationOwners } from '../../store/money/book-comparison.ts';
import { appendAudit } from '../../store/plumbing/audit-log.ts';
import type { Tx } from '../../store/plumbing/database.ts';
import { isRetired, readAccountStates, storeAccountState } from '../account-states.ts';
import { type CommandDeps, command } from '../command.ts';
import { intermediateInForce, lockAccounts, putInForce, usedAccounts } from '../own-accounts.ts';
import type { RowKeyDeps } from '../row-keys.ts';

/**
 * Adds, replaces and retires our accounts while the gateway runs. Each change and its entry in the audit log are one database
 * transaction, so a crash leaves all of it or nothing. Nodes learn of a change from their settings and from the stored rows, in any
 * order.
 */

export type ChangeDeps = CommandDeps & RowKeyDeps & { readonly chains: Chains };

export interface AccountChange extends Pick<OwnAccount, 'network' | 'address' | 'kind'> {
  readonly actor: string;
}

/**
 * Stores a relayer or an intermediate account before any node uses it. From then on no merchant can be paid at this account, and its
 * transfers count as ours. A retired relayer that is added again takes items again.
 */
export async function addAccount(deps: ChangeDeps, { network, address, kind, actor }: AccountChange): Promise<void> {
  const connected = connectedOf(deps, network);
  if (!hasKey(connected, { address, kind })) {
    const setting = kind === 'relayer' ? 'RELAYER_KEYS' : 'OTHER_INTERMEDIATE_KEYS';
    throw refused(`No key of ${address} is configured on ${network}. Add it to ${setting} of every node first.`);
  }
  await command(deps, async (tx, now) => {
    await lockAccounts(tx);
    const [states, used] = await Promise.all([readAccountStates(tx, deps, network), usedAccounts(tx, deps, network)]);
    const isUsed = used.some((row) => row.kind === kind && isSameAddress(network, row.address, address));
    const isAdded = states.some((row) => row.kind === kind && isSameAddress(network, row.address, address));
    if ((isUsed || isAdded) && !isRetired(states, { address, kind })) {
      throw refused(`${address} is one of our accounts on ${network} already.`);
    }
    await refuseOfOthers(tx, { network, address });
    await storeAccountState(tx, deps, { network, address, kind, state: 'added', since: now });
    await appendAudit(tx, { at: now, actor, action: 'account.added', subject: network, detail: { address, kind } });
  });
}

/**
 * Makes an account the intermediate account of its network. The former one keeps its money and its key: money for it is still swept
 * to it, and paid out from it.
 */
export async function rotateAccount(
  deps: ChangeDeps,
  { network, address, actor }: Omit<AccountChange, 'kind'>,
): Promise<{ readonly before: string | undefined }> {
  const connected = connectedOf(deps, network);
  if (connected.intermediateAccount !== address || connected.intermediateSigner === undefined) {
    throw refused(
      `Set INTERMEDIATE_ACCOUNT and INTERMEDIATE_KEY on ${network} to ${address} first, and put the key of the account before into OTHER_INTERMEDIATE_KEYS.`,
    );
  }
  return command(deps, async (tx, now) => {
    await lockAccounts(tx);
    const before = await intermediateInForce(tx, deps, network);
    if (before !== undefined && !isSameAddress(network, before, address)) {
      if (intermediateSignerAt(connected, before) === undefined) {
        throw refused(
          `Money for ${before} would be stranded: deposit addresses name it for ever. Put its key into OTHER_INTERMEDIATE_KEYS of every node; if the key is lost or stolen, run till accounts adopt ${network}:${address}.`,
        );
      }
    }
    const states = await readAccountStates(tx, deps, network);
    if (isRetired(states, { address, kind: 'intermediate' })) {
      throw refused(`${address} is retired. Run till accounts add intermediate ${network}:${address} first.`);
    }
    await refuseOfOthers(tx, { network, address });
    await putInForce(tx, deps, { network, address, actor, action: 'account.rotated' }, now);
    return { before };
  });
}

/**
 * Retires an account. A retired relayer takes no new items, and finishes its stored transactions. An intermediate account must be
 * empty. Returns the counts of everything that still needs the account.
 */
export async function retireAccount(
  deps: ChangeDeps,
  { network, address, kind, actor }: AccountChange,
): Promise<AccountRest> {
  const connected = connectedOf(deps, network);
  return command(deps, async (tx, now) => {
    await lockAccounts(tx);
    const [states, used] = await Promise.all([readAccountStates(tx, deps, network), usedAccounts(tx, deps, network)]);
    const isSame = (row: Pick<OwnAccount, 'address' | 'kind'>) =>
      row.kind === kind && isSameAddress(network, row.address, address);
    if (!used.some(isSame) && !states.some(isSame))
      throw refused(`${address} is no ${WORDS[kind]} of ours on ${network}.`);
    if (isRetired(states, { address, kind })) throw refused(`${address} is retired already.`);
    if (kind === 'relayer') refuseLast(connected, address, (other) => isRetired(states, { address: other, kind }));
    const rest = await countAccountRest(tx, { network, address, now });
    if (kind === 'intermediate') {
      refuseInForce(connected, address, await intermediateInForce(tx, deps, network));
      refuseFull({ network, address }, rest);
    }
    await storeAccountState(tx, deps, { network, address, kind, state: 'retired', since: now });
    const detail = { address, kind, rest };
    await appendAudit(tx, { at: now, actor, action: 'account.retired', subject: network, detail });
    return rest;
  });
}

const WORDS = { relayer: 'relayer', intermediate: 'intermediate account' } as const;

function refuseLast({ chain, relayers }: ConnectedChain, address: string, isOut: (address: string) => boolean): void {
  const network = chain.network.chainId;
  const isSame = (relayer: Signer) => isSameAddress(network, relayer.address, address);
  const others = relayers.filter((relayer) => !isSame(relayer) && !isOut(relayer.address));
  if (others.length > 0) return;
  throw refused(
    `No other relayer would send payments on ${network}. Add a key to RELAYER_KEYS of every node, send coin to its account, and retire ${address} then.`,
  );
}

function refuseInForce({ chain, intermediateAccount }: ConnectedChain, address: string, inForce?: string): void {
  const network = chain.network.chainId;
  const isIt = (account: string | undefined) => account !== undefined && isSameAddress(network, account, address);
  if (!isIt(inForce) && !isIt(intermediateAccount)) return;
  throw refused(
    `${address} is the intermediate account of ${network}. Run till accounts rotate with another account first.`,
  );
}

/** The obstacles to retiring an intermediate account, each with its remedy. */
const WAYS_OUT: Readonly<Record<keyof AccountRest, (count: number) => string>> = {
  sends: (count) => `${count} transactions of it are not final: wait`,
  arriving: (count) => `${count} payments or sweeps to it are under way: wait for their end`,
  watched: (count) =>
    `${count} deposit addresses that name it are younger than 30 days, and late money there is swept: wait`,
  held: (count) => `it holds money of ${count} payments: register destinations of their merchants`,
  outgoing: (count) => `${count} payouts, refunds or returns from it are under way: wait`,
  floats: (count) => `${count} floats are on it: run till float return`,
  unexpected: (count) => `it has unexpected money in ${count} cases: run till strays return or till float add`,
};

function refuseFull({ network, address }: Pick<OwnAccount, 'network' | 'address'>, rest: AccountRest): void {
  const left = Object.entries(WAYS_OUT).flatMap(([name, way]) => {
    const count = rest[name as keyof AccountRest];
    return count > 0 ? [way(count)] : [];
  });
  if (left.length === 0) return;
  throw refused(`${address} on ${network} cannot be retired yet, so keep its key: ${left.join('; ')}.`);
}

/** Refuses an address that is a merchant's destination or a deposit address: money that belongs to others would count as ours. */
async function refuseOfOthers(tx: Tx, { network, address }: Pick<OwnAccount, 'network' | 'address'>): Promise<void> {
  const [addresses, owners] = await Promise.all([
    findDepositAddresses(tx, [address]),
    findDestinationOwners(tx, [`${network}:${address}`]),
  ]);
  if (addresses.size > 0) throw refused(`${address} is a deposit address.`);
  const [owner] = owners;
  if (owner !== undefined) throw refused(`${address} is a destination of ${owner.merchantId}. Use another account.`);
}

function hasKey(connected: ConnectedChain, { address, kind }: Pick<OwnAccount, 'address' | 'kind'>): boolean {
  return kind === 'relayer'
    ? connected.relayers.some((relayer) => relayer.address === address)
    : intermediateSignerAt(connected, address) !== undefined;
}

function connectedOf({ chains }: { readonly chains: Chains }, network: string): ConnectedChain {
  const connected = chains.find(network);
  if (connected === undefined) throw refused(`${network} is not connected: see RPC_URLS.`);
  return connected;
}

function refused(message: string): ApiError {
  return new ApiError('invalid_state', message);
}
