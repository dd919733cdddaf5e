import { isRowMac, type MacFields, macOfRow } from '../../domain/row-mac.ts';
import { lockAllPasskeys, type Passkey, type StoredPasskey, setPasskeyMacs } from '../../store/people/passkeys.ts';
import { lockPeople, type Person, type StoredPerson, setPersonMacs } from '../../store/people/people.ts';
import type { SessionHolder, SessionRights, StoredSession } from '../../store/people/sessions.ts';
import type { SignInLink, StoredLink } from '../../store/people/sign-in-links.ts';
import { type Pages, renewMacs } from '../renew-macs.ts';
import type { RowKeyDeps } from '../row-keys.ts';

/**
 * Rows of people, passkeys, links and sessions decide who may act for a partner, so each carries a MAC under a key outside the
 * database. Links and sessions are short-lived: they end with an older master secret, and their MACs are not renewed.
 */

type PersonRights = Pick<
  Person,
  'id' | 'belongsTo' | 'partnerId' | 'merchantId' | 'mode' | 'role' | 'refundLimits' | 'version'
>;
type PasskeyRights = Pick<Passkey, 'id' | 'personId' | 'credentialId' | 'publicKey'>;

export function withPersonMac<P extends PersonRights>({ rowKeys }: RowKeyDeps, person: P): P & { mac: string } {
  return { ...person, mac: macOfRow(rowKeys, 'people', personFields(person)) };
}

export function isOwnPerson({ rowKeys }: RowKeyDeps, row: StoredPerson): boolean {
  return isRowMac(rowKeys, 'people', personFields(row), row.mac);
}

export function withPasskeyMac<P extends PasskeyRights>({ rowKeys }: RowKeyDeps, passkey: P): P & { mac: string } {
  return { ...passkey, mac: macOfRow(rowKeys, 'passkeys', passkeyFields(passkey)) };
}

export function isOwnPasskey({ rowKeys }: RowKeyDeps, row: StoredPasskey): boolean {
  return isRowMac(rowKeys, 'passkeys', passkeyFields(row), row.mac);
}

export function withLinkMac({ rowKeys }: RowKeyDeps, link: SignInLink): StoredLink {
  return { ...link, mac: macOfRow(rowKeys, 'sign_in_links', timedFields(link)) };
}

export function isOwnLink({ rowKeys }: RowKeyDeps, row: StoredLink): boolean {
  return isRowMac(rowKeys, 'sign_in_links', timedFields(row), row.mac);
}

export function withSessionMac<S extends SessionRights>({ rowKeys }: RowKeyDeps, session: S): S & { mac: string } {
  return { ...session, mac: macOfRow(rowKeys, 'sessions', timedFields(session)) };
}

function isOwnSession({ rowKeys }: RowKeyDeps, row: StoredSession): boolean {
  return isRowMac(rowKeys, 'sessions', timedFields(row), row.mac);
}

/** True if the gateway wrote both the session and the rights of its person. */
export function isOwnHolder(deps: RowKeyDeps, holder: SessionHolder): boolean {
  return isOwnSession(deps, holder) && isOwnPerson(deps, holder.person);
}

export function forgedPersonMessage({ id, personId }: SessionHolder): string {
  return `The session ${id} of the person ${personId} is refused: the gateway did not write its row, or the row of the person was changed. Find out who has written to the database. Remove the person, and invite them again.`;
}

export function renewPersonMacs(
  pages: Pages,
  deps: RowKeyDeps,
  isTrusted: (row: StoredPerson) => boolean,
): Promise<number> {
  const rows = {
    lock: lockPeople,
    macOf: (row: StoredPerson) => withPersonMac(deps, row).mac,
    write: setPersonMacs,
  };
  return renewMacs(pages, rows, isTrusted);
}

export function renewPasskeyMacs(
  pages: Pages,
  deps: RowKeyDeps,
  isTrusted: (row: StoredPasskey) => boolean,
): Promise<number> {
  const rows = {
    lock: lockAllPasskeys,
    macOf: (row: StoredPasskey) => withPasskeyMac(deps, row).mac,
    write: setPasskeyMacs,
  };
  return renewMacs(pages, rows, isTrusted);
}

function personFields({
  id,
  belongsTo,
  partnerId,
  merchantId,
  mode,
  role,
  refundLimits,
  version,
}: PersonRights): MacFields {
  const limits = refundLimits && JSON.stringify(refundLimits.map(({ unit, value }) => [unit, value]));
  return { id, belongsTo, partnerId, merchantId, mode, role, refundLimits: limits, version: String(version) };
}

function passkeyFields({ id, personId, credentialId, publicKey }: PasskeyRights): MacFields {
  return { id, personId, credentialId, publicKey };
}

function timedFields({ id, personId, hash, createdAt, expiresAt }: SignInLink | SessionRights): MacFields {
  return { id, personId, hash, createdAt: createdAt.toISOString(), expiresAt: expiresAt.toISOString() };
}
