import type { Chains } from '../../../chains/chains.ts';
import { destinationProblem } from '../../../chains/destinations.ts';
import { floatReturnEntry, OPERATOR_FLOAT } from '../../../domain/books.ts';
import { parseAccount } from '../../../domain/caip.ts';
import { idBytes, markedId, newId } from '../../../domain/ids.ts';
import { ApiError } from '../../../errors.ts';
import { appendAudit } from '../../../store/plumbing/audit-log.ts';
import { recordEntries } from '../../books/record.ts';
import { type CommandDeps, command } from '../../command.ts';
import { refuseOwnPlaces } from '../../parties/refuse-own-places.ts';
import type { RowKeyDeps } from '../../row-keys.ts';
import { orderOutgoing } from '../order/order-outgoing.ts';
import { connectedOf } from './add-float.ts';
import { accountOfFloats, takeFromFloats } from './take-from-floats.ts';

export interface ReturnFloatInput {
  /** The owner of the float: a merchant's id, or the operator. */
  readonly owner: string;
  readonly asset: string;
  readonly units: bigint;
  readonly recipient: string;
  readonly actor: string;
}

/** Sends a part of a float to an outside account. Returns the id of the transfer. */
export async function returnFloat(
  deps: CommandDeps & RowKeyDeps & { chains: Chains },
  input: ReturnFloatInput,
): Promise<string> {
  const { owner, asset, units, recipient, actor } = input;
  const connected = connectedOf(deps.chains, asset);
  const { chain } = connected;
  const network = chain.network.chainId;
  const method = deps.registry.asset(asset)?.pay?.method;
  if (method === undefined) throw new ApiError('invalid_state', `${asset} is no asset that Till can send.`);
  const to = parseAccount(`${network}:${recipient}`);
  const problem = to.ok ? destinationProblem(deps, to.value, asset) : to.problem;
  if (!to.ok || problem !== undefined) throw new ApiError('invalid_state', `--to ${problem}.`);
  return command(deps, async (tx, now) => {
    await refuseOwnPlaces(tx, deps, [{ field: '--to', account: to.value }]);
    const id = markedId('flot_', idBytes(newId('flot_', now.getTime(), deps.world.random.bytes(10))));
    const parts = [{ owner, units }];
    const payer = (await accountOfFloats(tx, connected, { asset, parts })) ?? connected.intermediateAccount;
    const taken = await takeFromFloats(tx, { network, asset, subject: id, kind: 'returned', parts, payer }, now);
    if (!taken.ok) {
      const [lack] = taken.missing;
      const problem = lack?.elsewhere === undefined ? 'There is less than that in' : `${lack.elsewhere} has`;
      throw new ApiError('invalid_state', `${problem} the float of ${owner}.`);
    }
    const merchantId = owner === OPERATOR_FLOAT ? null : owner;
    const outgoing = { id, purpose: 'return', network, asset, method, payer, recipient, amount: units } as const;
    await orderOutgoing(tx, deps, [{ ...outgoing, merchantId, floatOwner: owner }], now);
    const about = { network, asset, subject: id, reference: id, merchantId };
    await recordEntries(tx, [floatReturnEntry('sent', about, { owner, units })], now);
    const detail = { id, asset, units: units.toString(), recipient };
    await appendAudit(tx, { at: now, actor, action: 'float.returned', subject: owner, detail });
    return id;
  });
}
