import type { MacFields } from '../../domain/row-mac.ts';
import { lockAllPasskeys, type Passkey, type StoredPasskey, setPasskeyMacs } from '../../store/people/passkeys.ts';
import { lockPeople, type Person, type StoredPerson, setPersonMacs } from '../../store/people/people.ts';
import type { SessionHolder, SessionRights } from '../../store/people/sessions.ts';
import type { SignInLink } from '../../store/people/sign-in-links.ts';
import { type Pages, renewMacs } from '../renew-macs.ts';
import { macsOf, type RowKeyDeps } from '../row-keys.ts';

/**
 * Rows of people, passkeys, links and sessions decide who may act for a partner, so each carries a MAC under a key outside the
 * database. The MACs of links and sessions are not renewed when the master secret is replaced: both are short-lived, and become
 * invalid with the older secret.
 */

type PersonRights = Pick<
  Person,
  'id' | 'belongsTo' | 'partnerId' | 'merchantId' | 'mode' | 'role' | 'refundLimits' | 'version'
>;
type PasskeyRights = Pick<Passkey, 'id' | 'personId' | 'credentialId' | 'publicKey'>;

export const { withMac: withPersonMac, isOwn: isOwnPerson } = macsOf('people', personFields);
export const { withMac: withPasskeyMac, isOwn: isOwnPasskey } = macsOf('passkeys', passkeyFields);
export const { withMac: withLinkMac, isOwn: isOwnLink } = macsOf('sign_in_links', timedFields);
const sessions = macsOf('sessions', timedFields);
export const { withMac: withSessionMac } = sessions;

/** True if the MACs show that the gateway itself wrote both the row of the session and the row of its person, with the person's rights. */
export function isOwnHolder(deps: RowKeyDeps, holder: SessionHolder): boolean {
  return sessions.isOwn(deps, holder) && isOwnPerson(deps, holder.person);
}

export function forgedPersonMessage({ id, personId }: SessionHolder): string {
  return `The session ${id} of the person ${personId} is refused: the gateway did not write its row, or the row of the person was changed. Find out who has written to the database. Remove the person, and invite them again.`;
}

export function renewPersonMacs(
  pages: Pages,
  deps: RowKeyDeps,
  isTrusted: (row: StoredPerson) => boolean,
): Promise<number> {
  const macOf = (row: StoredPerson) => withPersonMac(deps, row).mac;
  return renewMacs(pages, { lock: lockPeople, macOf, write: setPersonMacs }, isTrusted);
}

export function renewPasskeyMacs(
  pages: Pages,
  deps: RowKeyDeps,
  isTrusted: (row: StoredPasskey) => boolean,
): Promise<number> {
  const macOf = (row: StoredPasskey) => withPasskeyMac(deps, row).mac;
  return renewMacs(pages, { lock: lockAllPasskeys, macOf, write: setPasskeyMacs }, isTrusted);
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
