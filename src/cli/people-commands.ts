import { changePerson, removePerson } from '../actions/people/change-person.ts';
import { invitePerson, type LinkMail, linkUrl, type Relinked, relinkPerson } from '../actions/people/invite-person.ts';
import { LANGUAGES, type Language } from '../domain/mail.ts';
import { type Belonging, ROLES } from '../domain/role.ts';
import { ApiError } from '../errors.ts';
import { readSandbox } from '../sandbox/demo.ts';
import { openSecrets } from '../settings/master-secret.ts';
import { findMerchantOfAnyPartner } from '../store/parties/merchants.ts';
import { listEverybody, type Person } from '../store/people/people.ts';
import type { Reader } from '../store/plumbing/database.ts';
import { type Command, databaseCommand, operatorOf } from './command.ts';
import type { OperatorDeps } from './connect.ts';
import { id, oneOf, text } from './kinds.ts';
import { listing } from './listing.ts';
import { amountIn } from './money-kinds.ts';
import { flag, optional, repeated, required } from './options.ts';
import { emailAddress } from './people-kinds.ts';
import { openRowKeys } from './row-keys.ts';
import { layoutFields } from './table.ts';

const MAX_LIMITS = 50;
const MAX_LISTED = 1_000;
const everybody = () => true;
const DEFAULT_PORT = 8080;

export const invite = databaseCommand({
  name: 'people invite',
  summary: 'Invite a person to the dashboard, and show the link that signs them in once.',
  options: {
    partner: optional(id, 'The partner that the person belongs to.'),
    merchant: optional(id, 'The merchant that the person belongs to.'),
    operator: flag('The person belongs to the operator.'),
    name: required(text, 'The name of the person.'),
    email: required(emailAddress, 'The e-mail address. With SMTP_URL the link is mailed to it.'),
    role: required(oneOf(ROLES), 'What the person may do.'),
    'refund-limit': repeated(amountIn, MAX_LIMITS, 'The largest payment that support may refund.'),
    language: optional(oneOf(LANGUAGES), 'The language of the mail. English by default.'),
  },
  examples: [
    'people invite --partner prtn_01KHRZ5Q8MB2N4P6R8T0V2X4Z6 --name "Ada Owner" --email ada@shop.example --role owner',
    'people invite --merchant mrch_01KHRZ5Q8MB2N4P6R8T0V2X4Z6 --name Sam --email sam@shop.example --role cashier',
    'people invite --operator --name "On call" --email oncall@till.example --role owner',
  ],
  check: ({ partner, merchant, operator }) =>
    [partner !== undefined, merchant !== undefined, operator].filter(Boolean).length === 1
      ? []
      : ['Give one of --partner, --merchant and --operator.'],
  run: async (deps, { partner, merchant, operator, name, email, role, language, 'refund-limit': limits }) => {
    const belonging = await belongingOf(deps.db.sql, { partner, merchant, operator });
    const made = await invitePerson(
      { ...deps, rowKeys: await openRowKeys(deps) },
      {
        actor: operatorOf(deps.config),
        belonging,
        name,
        email,
        role,
        refundLimits: limits.length === 0 ? null : limits,
        mail: await openMail(deps, language),
      },
    );
    return linkOutput('Person invited.', await originFor(deps), { ...made, expiresAt: made.link.expiresAt });
  },
});

const link = databaseCommand({
  name: 'people link',
  summary:
    'Make a new link that signs a person in once. The link before ends. For a person with a passkey it is mailed, and not shown.',
  positionals: { id: required(id, 'The person, as shown by people list.') },
  options: {
    'forget-passkeys': flag(
      'The person lost every passkey: all end, and a new one is added. Without mail the link is shown.',
    ),
    language: optional(oneOf(LANGUAGES), 'The language of the mail. English by default.'),
  },
  examples: [
    'people link psn_01KHRZ5Q8MB2N4P6R8T0V2X4Z6',
    'people link psn_01KHRZ5Q8MB2N4P6R8T0V2X4Z6 --forget-passkeys',
  ],
  run: async (deps, { id: personId, language, 'forget-passkeys': forgetsPasskeys }) => {
    const rowKeys = await openRowKeys(deps);
    const mail = await openMail(deps, language);
    const made = await relinkPerson(
      { ...deps, rowKeys },
      {
        actor: operatorOf(deps.config),
        personId,
        isSeen: everybody,
        mail,
        forgetsPasskeys,
      },
    );
    return linkOutput('Link made.', await originFor(deps), made);
  },
});

const set = databaseCommand({
  name: 'people set',
  summary: 'Change the role of a person.',
  positionals: { id: required(id, 'The person, as shown by people list.') },
  options: {
    role: required(oneOf(ROLES), 'What the person may do.'),
    'refund-limit': repeated(amountIn, MAX_LIMITS, 'The largest payment that support may refund.'),
  },
  examples: ['people set psn_01KHRZ5Q8MB2N4P6R8T0V2X4Z6 --role bookkeeper'],
  run: async (deps, { id: personId, role, 'refund-limit': limits }) => {
    const rowKeys = await openRowKeys(deps);
    const person = await changePerson(
      { ...deps, rowKeys },
      {
        actor: operatorOf(deps.config),
        personId,
        isSeen: everybody,
        changes: { role, refundLimits: limits.length === 0 ? null : limits },
        version: undefined,
      },
    );
    return { json: shown(person), text: `Person changed.\n\n${layoutFields(fieldsOf(person))}` };
  },
});

const list = databaseCommand({
  name: 'people list',
  summary: 'Show the people who may sign in to the dashboard.',
  examples: ['people list'],
  run: async ({ db }) => {
    const people = await listEverybody(db.sql, MAX_LISTED);
    return listing(
      people.map(({ mac: _, ...person }) => person),
      {
        columns: [
          { title: 'id', cell: (person) => person.id },
          { title: 'of', cell: placeText },
          { title: 'role', cell: (person) => person.role },
          { title: 'name', cell: (person) => person.name },
          { title: 'e-mail', cell: (person) => person.email },
          { title: 'passkeys', cell: (person) => String(person.passkeys) },
          { title: 'joined', cell: (person) => person.joinedAt },
          { title: 'last seen', cell: (person) => person.lastSeenAt },
        ],
        empty: 'Nobody yet.',
      },
    );
  },
});

const remove = databaseCommand({
  name: 'people remove',
  summary: 'Remove a person: all sessions, links and passkeys end.',
  positionals: { id: required(id, 'The person, as shown by people list.') },
  examples: ['people remove psn_01KHRZ5Q8MB2N4P6R8T0V2X4Z6'],
  run: async (deps, { id: personId }) => {
    const input = { actor: operatorOf(deps.config), personId, isSeen: everybody, mayRemoveLastOwner: true };
    const { person } = await removePerson(deps, input);
    return {
      json: { id: person.id, removed: true },
      text: `${person.name} is removed.`,
      note: 'Every node refuses the sessions within 5 s.',
    };
  },
});

export const peopleCommands: readonly Command[] = [invite, list, set, link, remove];

async function belongingOf(
  db: Reader,
  { partner, merchant, operator }: { partner: string | undefined; merchant: string | undefined; operator: boolean },
): Promise<Belonging> {
  if (operator) return { belongsTo: 'operator', partnerId: null, merchantId: null, mode: null };
  if (partner !== undefined) return { belongsTo: 'partner', partnerId: partner, merchantId: null, mode: null };
  const found = merchant === undefined ? undefined : await findMerchantOfAnyPartner(db, merchant);
  if (found === undefined) throw new ApiError('merchant_not_found', `There is no merchant ${merchant}.`);
  return { belongsTo: 'merchant', partnerId: found.partnerId, merchantId: found.id, mode: found.mode };
}

/** The data with which the nodes also mail the sign-in link. Undefined if no mail server is configured. */
async function openMail(deps: OperatorDeps, language: Language = 'en'): Promise<LinkMail | undefined> {
  if (deps.config.smtp === undefined) return undefined;
  return { publicUrl: await originFor(deps), language, secrets: await openSecrets(deps) };
}

/**
 * The URL of the gateway's pages. The port of a sandbox may differ from the default, so the URL of a sandbox is read from its
 * `sandbox.json`.
 */
async function originFor({ config }: OperatorDeps): Promise<string> {
  const isDefault = config.publicUrl === `http://localhost:${DEFAULT_PORT}` && config.databaseUrl === undefined;
  const sandbox = isDefault ? await readSandbox(config.home) : undefined;
  return sandbox?.baseUrl ?? config.publicUrl;
}

function linkOutput(title: string, publicUrl: string, { person, link: made, expiresAt, isMailed }: Relinked) {
  const url = made === null ? null : linkUrl(publicUrl, made);
  const fields = layoutFields({ ...fieldsOf(person), link: url, expires: expiresAt });
  return {
    json: { ...shown(person), link: { url, expiresAt, isMailed } },
    text: `${title}\n\n${fields}`,
    note: isMailed
      ? `The link signs in once. It is mailed to ${person.email}.`
      : 'The link signs in once. Give it to the person by a way that nobody else reads.',
  };
}

function fieldsOf(person: Person) {
  return { id: person.id, of: placeText(person), role: person.role, name: person.name, 'e-mail': person.email };
}

function placeText({ belongsTo, partnerId, merchantId }: Person): string {
  return merchantId ?? partnerId ?? belongsTo;
}

/** The person without the MAC of the row. */
function shown(person: Person & { mac?: string }): object {
  const { mac: _, ...rest } = person;
  return rest;
}
