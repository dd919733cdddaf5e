import { newId } from '../../domain/ids.ts';
import type { KeyRing } from '../../domain/key-ring.ts';
import {
  CHALLENGE_MS,
  CHALLENGE_RANDOM_BYTES,
  type ChallengeUse,
  openChallenge,
  sealChallenge,
} from '../../domain/passkey-challenge.ts';
import { hashToken, SESSION_MS } from '../../domain/session.ts';
import { ApiError, validationError } from '../../errors.ts';
import {
  deletePasskey,
  findPasskey,
  insertAnswered,
  insertPasskey,
  listPasskeys,
  lockPasskeys,
  notePasskeyUse,
  type Passkey,
  type StoredPasskey,
} from '../../store/people/passkeys.ts';
import { lockSession, type SessionHolder, setVerified } from '../../store/people/sessions.ts';
import { appendAudit } from '../../store/plumbing/audit-log.ts';
import type { Tx } from '../../store/plumbing/database.ts';
import { type CommandDeps, command } from '../command.ts';
import type { RowKeyDeps } from '../row-keys.ts';
import { isOwnPasskey, withPasskeyMac, withSessionMac } from './person-rows.ts';
import { onSteadyTime } from './steady-time.ts';
import {
  type AuthenticationResponseJSON,
  authenticationOptions,
  challengeIn,
  checkAuthentication,
  checkRegistration,
  type RegistrationResponseJSON,
  registrationOptions,
  type Site,
} from './webauthn.ts';

export interface PasskeyDeps extends CommandDeps, RowKeyDeps {
  /** The keys of the MACs that challenges carry. */
  readonly challengeKeys: KeyRing;
  readonly site: Site;
}

const MAX_PASSKEYS = 20;

/** The sign-in options of a visitor whose name is unknown: the authenticator offers all its passkeys for this site. */
export function signInOptions(deps: PasskeyDeps): Promise<object> {
  return authenticationOptions(deps.site, { challenge: newChallenge(deps, SIGN_IN), known: [] });
}

export async function verifyOptions(deps: PasskeyDeps, session: SessionHolder): Promise<object> {
  const known = await listPasskeys(deps.db.sql, session.personId);
  return authenticationOptions(deps.site, { challenge: newChallenge(deps, useOf('verify', session)), known });
}

export async function registerOptions(deps: PasskeyDeps, session: SessionHolder): Promise<object> {
  const known = await listPasskeys(deps.db.sql, session.personId);
  const challenge = newChallenge(deps, useOf('register', session));
  return registrationOptions(deps.site, { challenge, person: session.person, known });
}

/**
 * Stores a new passkey of the session's person. The person has just used it, so the session counts as verified, and lasts as long as a
 * session that began with a passkey.
 */
export async function registerPasskey(
  deps: PasskeyDeps,
  session: SessionHolder,
  input: { readonly actor: string; readonly label: string; readonly response: RegistrationResponseJSON },
): Promise<Passkey> {
  const challenge = challengeIn(input.response);
  const expiresAt = openChallenge(deps.challengeKeys, useOf('register', session), challenge, nowMs(deps));
  const made = expiresAt && (await checkRegistration(deps.site, challenge, input.response));
  if (expiresAt === undefined || made === undefined) throw refusedPasskey();
  return command(onSteadyTime(deps), async (tx, now) => {
    if (!(await insertAnswered(tx, { hash: hashToken(challenge), expiresAt }))) throw refusedPasskey();
    const known = await lockPasskeys(tx, session.personId);
    if (known.length >= MAX_PASSKEYS) {
      throw new ApiError('invalid_state', `A person has at most ${MAX_PASSKEYS} passkeys.`, { status: 409 });
    }
    const passkey = {
      ...made,
      id: newId('pky_', now.getTime(), deps.world.random.bytes(10)),
      personId: session.personId,
      label: input.label,
      createdAt: now,
      lastUsedAt: now,
    };
    if (!(await insertPasskey(tx, withPasskeyMac(deps, passkey)))) throw refusedPasskey();
    await renew(tx, deps, session, now);
    const { id: subject, label } = passkey;
    await appendAudit(tx, { at: now, actor: input.actor, action: 'passkey.added', subject, detail: { label } });
    return passkey;
  });
}

/** Verifies a session by a passkey of its person. Sensitive changes are then allowed for a while. */
export async function verifySession(
  deps: PasskeyDeps,
  session: SessionHolder,
  input: { readonly actor: string; readonly response: AuthenticationResponseJSON },
): Promise<void> {
  const shown = await readAnswer(deps, useOf('verify', session), input.response);
  if (shown?.passkey.personId !== session.personId) throw refusedPasskey();
  await command(onSteadyTime(deps), async (tx, now) => {
    if (!(await noteShown(tx, shown, now))) throw refusedPasskey();
    await renew(tx, deps, session, now);
    const detail = { passkey: shown.passkey.id };
    await appendAudit(tx, { at: now, actor: input.actor, action: 'session.verified', subject: session.id, detail });
  });
}

export function removePasskey(
  deps: CommandDeps,
  input: { readonly actor: string; readonly personId: string; readonly passkeyId: string },
): Promise<void> {
  return command(onSteadyTime(deps), async (tx, now) => {
    const passkeys = await lockPasskeys(tx, input.personId);
    const passkey = passkeys.find(({ id }) => id === input.passkeyId);
    if (passkey === undefined) throw new ApiError('invalid_params', 'There is no such passkey.', { status: 404 });
    if (passkeys.length === 1) {
      throw new ApiError('invalid_state', 'This is your last passkey. Add another one first.', { status: 409 });
    }
    await deletePasskey(tx, passkey.id);
    const detail = { label: passkey.label };
    await appendAudit(tx, { at: now, actor: input.actor, action: 'passkey.removed', subject: passkey.id, detail });
  });
}

/** A valid answer of a known passkey. */
export interface ShownPasskey {
  readonly passkey: StoredPasskey;
  readonly challenge: string;
  readonly expiresAt: Date;
  readonly counter: string;
}

export const SIGN_IN: ChallengeUse = { purpose: 'sign-in', subject: '' };

/** Checks the answer of an authenticator. Undefined if the challenge is not ours, the passkey is unknown, or the signature is wrong. */
export async function readAnswer(
  deps: PasskeyDeps,
  use: ChallengeUse,
  response: AuthenticationResponseJSON,
): Promise<ShownPasskey | undefined> {
  const challenge = challengeIn(response);
  const expiresAt = openChallenge(deps.challengeKeys, use, challenge, nowMs(deps));
  if (expiresAt === undefined) return undefined;
  const passkey = await findPasskey(deps.db.sql, response.id);
  if (passkey === undefined || !isOwnPasskey(deps, passkey)) return undefined;
  const counter = await checkAuthentication(deps.site, challenge, response, passkey);
  return counter === undefined ? undefined : { passkey, challenge, expiresAt, counter };
}

/** Stores that an answer was used. Returns false if it was used before: of two concurrent requests only the first succeeds. */
export async function noteShown(
  tx: Tx,
  { passkey, challenge, expiresAt, counter }: ShownPasskey,
  now: Date,
): Promise<boolean> {
  const isNew = await insertAnswered(tx, { hash: hashToken(challenge), expiresAt });
  return isNew && (await notePasskeyUse(tx, { id: passkey.id, counter, at: now }));
}

/** The error for every refused passkey. The session stays valid, so the code is not `unauthorized`. */
function refusedPasskey(): ApiError {
  return validationError([{ field: 'passkey', message: 'was not accepted: try again' }]);
}

async function renew(tx: Tx, deps: RowKeyDeps, { id }: SessionHolder, now: Date): Promise<void> {
  const session = await lockSession(tx, id);
  if (session === undefined) throw refusedPasskey();
  const expiresAt = new Date(session.createdAt.getTime() + SESSION_MS);
  await setVerified(tx, withSessionMac(deps, { ...session, expiresAt, verifiedAt: now }));
}

function newChallenge(deps: PasskeyDeps, use: ChallengeUse): Uint8Array<ArrayBuffer> {
  const random = deps.world.random.bytes(CHALLENGE_RANDOM_BYTES);
  return sealChallenge(deps.challengeKeys, use, nowMs(deps) + CHALLENGE_MS, random);
}

function useOf(purpose: 'verify' | 'register', { id }: SessionHolder): ChallengeUse {
  return { purpose, subject: id };
}

function nowMs(deps: CommandDeps): number {
  return onSteadyTime(deps).world.clock.nowMs();
}
