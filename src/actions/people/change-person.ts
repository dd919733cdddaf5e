import type { RefundLimit, Role } from '../../domain/role.ts';
import { ApiError } from '../../errors.ts';
import { endPendingLinks } from '../../store/mail/mails.ts';
import {
  lockOwners,
  lockPerson,
  type Person,
  removePersonRow,
  type StoredPerson,
  updatePerson,
} from '../../store/people/people.ts';
import { appendAudit } from '../../store/plumbing/audit-log.ts';
import type { Tx } from '../../store/plumbing/database.ts';
import { type CommandDeps, command } from '../command.ts';
import type { RowKeyDeps } from '../row-keys.ts';
import { isOwnPerson, withPersonMac } from './person-rows.ts';

interface PersonRequest {
  readonly actor: string;
  readonly personId: string;
  /** True for the people that the caller may see. */
  readonly isSeen: (person: Person) => boolean;
}

interface PersonChanges {
  readonly name?: string;
  readonly role?: Role;
  readonly refundLimits?: readonly RefundLimit[] | null;
}

/** Changes a person. `version` is the version that the change is based on, if the caller knows it. */
export function changePerson(
  deps: CommandDeps & RowKeyDeps,
  input: PersonRequest & { readonly changes: PersonChanges; readonly version: number | undefined },
): Promise<Person> {
  return command(deps, async (tx, now) => {
    const person = await lockSeen(tx, input);
    // A changed row would get a new MAC, which would confirm rights that the gateway did not grant.
    if (!isOwnPerson(deps, person)) {
      throw new ApiError('invalid_state', 'The row of this person was changed by somebody else. Remove the person.');
    }
    if (input.version !== undefined && input.version !== person.version) throw changedMeanwhile(person);
    const { name = person.name, role = person.role, refundLimits = person.refundLimits } = input.changes;
    if (person.role === 'owner' && role !== 'owner') await keepAnOwner(tx, person);
    const changed = { ...person, name, role, refundLimits, version: person.version + 1 };
    await updatePerson(tx, withPersonMac(deps, changed));
    const of = (one: Person) => ({ name: one.name, role: one.role, refundLimits: one.refundLimits });
    const detail = { before: of(person), after: of(changed) };
    await appendAudit(tx, {
      at: now,
      actor: input.actor,
      action: 'person.changed',
      subject: person.id,
      detail,
      place: person,
    });
    return changed;
  });
}

/** Removes a person. Every node refuses the person's sessions within five seconds. */
export function removePerson(
  deps: CommandDeps,
  input: PersonRequest & { readonly mayRemoveLastOwner: boolean },
): Promise<{ readonly person: Person; readonly sessionHashes: readonly string[] }> {
  return command(deps, async (tx, now) => {
    const person = await lockSeen(tx, input);
    if (person.role === 'owner' && !input.mayRemoveLastOwner) await keepAnOwner(tx, person);
    const sessionHashes = await removePersonRow(tx, { id: person.id, at: now });
    await endPendingLinks(tx, person.id, now);
    const { name, email, role, belongsTo, partnerId, merchantId } = person;
    const detail = { before: { name, email, role, belongsTo, partnerId, merchantId }, after: null };
    await appendAudit(tx, {
      at: now,
      actor: input.actor,
      action: 'person.removed',
      subject: person.id,
      detail,
      place: person,
    });
    return { person, sessionHashes };
  });
}

export function personNotFound(): ApiError {
  return new ApiError('invalid_params', 'There is no such person.', { status: 404 });
}

async function lockSeen(tx: Tx, { personId, isSeen }: PersonRequest): Promise<StoredPerson> {
  const person = await lockPerson(tx, personId);
  if (person === undefined || !isSeen(person)) throw personNotFound();
  return person;
}

/** Throws if the person is the last owner, because without an owner nobody could invite people. */
async function keepAnOwner(tx: Tx, person: Person): Promise<void> {
  const owners = await lockOwners(tx, person);
  if (owners.every((id) => id === person.id)) {
    throw new ApiError('invalid_state', 'This is the last owner. Make somebody else an owner first.', { status: 409 });
  }
}

function changedMeanwhile({ name, role, refundLimits, version }: Person): ApiError {
  const details = { current: { name, role, refundLimits, version } };
  return new ApiError('invalid_state', 'Somebody else has changed this person meanwhile.', { status: 409, details });
}
