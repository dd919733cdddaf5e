import { ChainUnavailableError, type Incoming } from '../../../chains/chain.ts';
import type { Chains, ConnectedChain } from '../../../chains/chains.ts';
import { isSmall, loneCeilingOf } from '../../../chains/finality.ts';
import type { Network } from '../../../chains/networks.ts';
import { floatAddedEntry, OPERATOR_FLOAT } from '../../../domain/books.ts';
import { ApiError } from '../../../errors.ts';
import { changeFloats } from '../../../store/money/floats.ts';
import { insertStrays, moveStray } from '../../../store/money/strays.ts';
import { findMerchantOfAnyPartner } from '../../../store/parties/merchants.ts';
import { deleteAlert } from '../../../store/plumbing/alerts.ts';
import { appendAudit } from '../../../store/plumbing/audit-log.ts';
import type { Tx } from '../../../store/plumbing/database.ts';
import { recordEntries } from '../../books/record.ts';
import { type CommandDeps, command } from '../../command.ts';
import { hearTransfers } from '../../evidence.ts';
import { merchantNotFound } from '../../parties/change-merchant.ts';
import { strayOf } from '../stray/record-strays.ts';
import { aboutStray, strayReceivedEntries } from '../stray/stray-entries.ts';

export interface AddFloatInput {
  /** A merchant's id, or the operator. */
  readonly owner: string;
  /** CAIP-19. */
  readonly asset: string;
  readonly transactionHash: string;
  readonly actor: string;
}

/**
 * Credits a float with what a transaction transferred to the intermediate account. The chain is asked; each transfer is
 * credited once, whoever asks how often, because it has one row among the strays and is claimed there.
 */
export async function addFloat(deps: CommandDeps & { chains: Chains }, input: AddFloatInput): Promise<bigint> {
  const connected = connectedOf(deps.chains, input.asset);
  const transfers = await transfersOf(connected, input).catch(asRefusal);
  return command(deps, async (tx, now) => {
    if (input.owner !== OPERATOR_FLOAT) {
      const merchant = await findMerchantOfAnyPartner(tx, input.owner);
      if (merchant === undefined) throw merchantNotFound(input.owner);
    }
    let units = 0n;
    for (const transfer of transfers) if (await claim(tx, connected, transfer, input, now)) units += transfer.amount;
    if (units === 0n) throw refused('What this transaction transferred has been credited or returned before.');
    const { owner, asset, actor, transactionHash } = input;
    const detail = { asset, units: units.toString(), transactionHash };
    await appendAudit(tx, { at: now, actor, action: 'float.added', subject: owner, detail });
    return units;
  });
}

async function claim(
  tx: Tx,
  connected: ConnectedChain,
  transfer: Incoming,
  { owner }: AddFloatInput,
  at: Date,
): Promise<boolean> {
  const stray = strayOf(connected, transfer, 'float');
  const { id, network, asset } = stray;
  const isNew = (await insertStrays(tx, [stray], at)).length === 1;
  if (!isNew && !(await moveStray(tx, { id, from: 'unclaimed', to: 'float', at }))) return false;
  const proof = { transaction: transfer.transactionHash, block: transfer.block.number };
  const about = { ...aboutStray(stray), merchantId: owner === OPERATOR_FLOAT ? null : owner };
  // Found and booked as a stray before, it is one no more.
  const entries = isNew ? [] : strayReceivedEntries(stray, -transfer.amount, proof);
  await changeFloats(tx, [{ owner, network, asset, units: transfer.amount, kind: 'added', subject: id }], at);
  await recordEntries(tx, [...entries, floatAddedEntry(about, owner, transfer.amount, proof)], at);
  await deleteAlert(tx, { name: 'stray_money', subject: id });
  return true;
}

/** The transfers of the transaction, as enough endpoints show them, in a block of final depth. */
async function transfersOf(
  { chain, intermediateAccount }: ConnectedChain,
  { asset, transactionHash }: AddFloatInput,
): Promise<readonly Incoming[]> {
  const state = await chain.findTransaction(transactionHash);
  if (state.is === 'unknown') throw refused('The chain knows no such transaction.');
  if (state.is === 'pending') throw refused('The transaction has not been mined yet: try again when it has.');
  const { transfers, isFinal, isAlone } = await hearTransfers(chain, transactionHash);
  if (!isFinal) throw refused('The transaction does not lie deep enough yet: try again soon.');
  const found = transfers.filter((transfer) => transfer.to === intermediateAccount && transfer.asset === asset);
  if (isAlone) refuseLarge(chain.network, found);
  if (found.length === 0) {
    throw refused(
      `The transaction transfers nothing of that asset to the intermediate account ${intermediateAccount}.`,
    );
  }
  return found;
}

/** One endpoint alone is believed up to an amount: it could have made the transfer up. */
export function refuseLarge(network: Network, amounts: readonly { readonly asset: string; readonly amount: bigint }[]) {
  const isLarge = amounts.some(({ asset, amount }) => !isSmall(network, { asset, amount: amount.toString() }));
  if (isLarge) {
    throw refused(
      `Only one endpoint of ${network.name} shows this transfer, and it is above ${loneCeilingOf(network)} tokens: ` +
        'name a second endpoint in RPC_URLS, or raise SINGLE_ENDPOINT_CEILING.',
    );
  }
}

export function connectedOf(chains: Chains, asset: string): ConnectedChain {
  const [network = ''] = asset.split('/');
  const connected = chains.find(network);
  if (connected === undefined) throw refused(`RPC_URLS does not name the network of ${asset}.`);
  return connected;
}

function refused(message: string): ApiError {
  return new ApiError('invalid_state', message);
}

function asRefusal(error: unknown): never {
  if (error instanceof ChainUnavailableError) throw refused(`The chain could not be asked: ${error.message}.`);
  throw error;
}
