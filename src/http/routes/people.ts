import type { FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { changePerson, personNotFound, removePerson } from '../../actions/people/change-person.ts';
import {
  invitePerson,
  type LinkMail,
  linkUrl,
  type Relinked,
  relinkPerson,
} from '../../actions/people/invite-person.ts';
import type { Registry } from '../../chains/registry.ts';
import { parseUnit } from '../../chains/units.ts';
import { openCursor, sealCursor } from '../../domain/cursor.ts';
import type { Language } from '../../domain/mail.ts';
import type { Belonging, RefundLimit } from '../../domain/role.ts';
import { ApiError, type Issue, validationError } from '../../errors.ts';
import { findMerchant } from '../../store/parties/merchants.ts';
import { listPeople, type PeoplePlace, type PeopleQuery, type Person } from '../../store/people/people.ts';
import type { App, HttpDeps } from '../deps.ts';
import { actorOf, callerRights, onBehalfOf, sessionOf } from '../entry/caller.ts';
import { givenFields } from '../entry/given-fields.ts';
import { isPlausibleId } from '../entry/plausible-id.ts';
import { Cursor, deletedBody, limitOf, MailLanguage, nullable, pageOf } from '../schemas.ts';
import { LinkBody, PersonBody, PersonField, viewPerson } from '../views/person.ts';

const READ = { scheme: 'person', scope: 'people:read' } as const;
const WRITE = { scheme: 'person', scope: 'people:write', needsPasskey: true } as const;
const LIMIT = 100;
const MAX_LIMIT = 500;
const MAX_PEOPLE = { operator: 500, partner: 1_000, merchant: 200 } as const;

export async function peopleRoutes(app: App, deps: HttpDeps): Promise<void> {
  app.get('/v1/people', { schema: LIST, config: { access: READ } }, async (request, reply) => {
    const { cursor, limit = LIMIT } = request.query;
    const seen = peopleSeen(request);
    const question = JSON.stringify(['people', seen]);
    const after = placeIn(deps, question, cursor);
    const found = await deps.lists.read(callerRights(request).id, reply, (db) =>
      listPeople(db, seen, { after, limit: limit + 1 }),
    );
    const page = found.slice(0, limit);
    const last = found.length > limit ? page.at(-1) : undefined;
    const place = last && [last.merchantId === null ? OWN : OF_MERCHANT, last.id];
    const nextCursor = place === undefined ? null : sealCursor(deps.cursorKeys, question, place);
    return { people: page.map(viewPerson), nextCursor };
  });

  app.post(
    '/v1/people',
    { schema: INVITE, config: { access: WRITE, errors: ['invalid_state', 'merchant_not_found', 'partner_not_found'] } },
    async (request, reply) => {
      const { name, email, role, refundLimits = null, merchantId, language } = request.body;
      const belonging = await placeFor(deps, request, merchantId);
      const limits = checkLimits(deps.registry, refundLimits);
      const input = { actor: actorOf(request), belonging, name, email, role, refundLimits: limits };
      const mail = linkMail(deps, language);
      const maxPeople = MAX_PEOPLE[belonging.belongsTo];
      const linked = await invitePerson(onBehalfOf(request, deps), { ...input, mail, maxPeople });
      const { expiresAt } = linked.link;
      return reply
        .code(201)
        .send({ person: viewPerson(linked.person), link: viewLink(deps, { ...linked, expiresAt }) });
    },
  );

  app.patch(
    '/v1/people/:id',
    { schema: CHANGE, config: { access: WRITE, errors: ['invalid_state'] } },
    async (request) => {
      const { name, role, refundLimits, version } = request.body;
      const limits = refundLimits === undefined ? undefined : checkLimits(deps.registry, refundLimits);
      const changes = givenFields({ name, role, refundLimits: limits });
      const input = { ...personRequest(request), changes, version };
      return { person: viewPerson(await changePerson(onBehalfOf(request, deps), input)) };
    },
  );

  app.delete(
    '/v1/people/:id',
    { schema: REMOVE, config: { access: WRITE, errors: ['invalid_state'] } },
    async (request) => {
      const input = { ...personRequest(request), mayRemoveLastOwner: false };
      const { sessionHashes } = await removePerson(onBehalfOf(request, deps), input);
      for (const hash of sessionHashes) deps.sessions.forget(hash);
      return { id: request.params.id, deleted: true as const };
    },
  );

  app.post(
    '/v1/people/:id/link',
    { schema: LINK, config: { access: WRITE, errors: ['invalid_state'] } },
    async (request, reply) => {
      const mail = linkMail(deps, request.query.language);
      const linked = await relinkPerson(onBehalfOf(request, deps), { ...personRequest(request), mail });
      return reply.code(201).send({ link: viewLink(deps, linked) });
    },
  );
}

const OWN = 'own';
const OF_MERCHANT = 'merchant';

function placeIn({ cursorKeys }: HttpDeps, question: string, cursor: string | undefined): PeoplePlace | undefined {
  if (cursor === undefined) return undefined;
  const [kind, id] = openCursor(cursorKeys, question, cursor) ?? [];
  if (id === undefined) {
    throw new ApiError('invalid_params', 'The cursor is not one of ours for this list: use nextCursor.');
  }
  return { ofMerchant: kind === OF_MERCHANT, id };
}

/** The people whom the caller sees. A person of a partner also sees the people of its merchants, in the mode of the request. */
function peopleSeen(request: FastifyRequest): PeopleQuery {
  const { person } = sessionOf(request);
  const { partnerId, mode } = callerRights(request);
  if (person.belongsTo === 'merchant') return { belongsTo: 'merchant', merchantId: person.merchantId };
  return partnerId === '' ? { belongsTo: 'operator' } : { belongsTo: 'partner', partnerId, mode };
}

export function isSeenBy(request: FastifyRequest): (person: Person) => boolean {
  const seen = peopleSeen(request);
  return (person) => {
    if (seen.belongsTo === 'operator') return person.belongsTo === 'operator';
    if (seen.belongsTo === 'merchant') return person.merchantId === seen.merchantId;
    return person.partnerId === seen.partnerId && (person.mode === null || person.mode === seen.mode);
  };
}

function personRequest(request: FastifyRequest) {
  const { id: personId } = request.params as { id: string };
  if (!isPlausibleId(personId)) throw personNotFound();
  return { personId, actor: actorOf(request), isSeen: isSeenBy(request) };
}

/** The owner of a new person: the operator, partner or merchant to which the caller belongs, or a merchant of the caller's partner. */
async function placeFor(
  deps: HttpDeps,
  request: FastifyRequest,
  merchantId: string | null | undefined,
): Promise<Belonging> {
  const seen = peopleSeen(request);
  if (seen.belongsTo === 'merchant') {
    if (merchantId !== undefined && merchantId !== seen.merchantId) {
      throw new ApiError('forbidden', 'You may invite people of your own merchant alone.');
    }
    const { partnerId, mode } = callerRights(request);
    return { belongsTo: 'merchant', partnerId, merchantId: seen.merchantId, mode };
  }
  if (seen.belongsTo === 'operator') {
    if (merchantId != null)
      throw new ApiError('forbidden', 'People of a merchant are invited by its partner, or by a command.');
    return { belongsTo: 'operator', partnerId: null, merchantId: null, mode: null };
  }
  const { partnerId } = seen;
  if (merchantId == null) return { belongsTo: 'partner', partnerId, merchantId: null, mode: null };
  const { mode } = callerRights(request);
  const merchant = isPlausibleId(merchantId)
    ? await findMerchant(deps.db.sql, { partnerId, mode }, merchantId)
    : undefined;
  if (merchant === undefined) throw new ApiError('merchant_not_found', 'There is no such merchant.');
  return { belongsTo: 'merchant', partnerId, merchantId, mode };
}

/** Checks the refund limits of a person, at most one per unit. Returns them with their units in canonical spelling. */
function checkLimits(registry: Registry, limits: readonly RefundLimit[] | null): readonly RefundLimit[] | null {
  if (limits === null) return null;
  const indexes = new Map<string, number>();
  const issues: Issue[] = [];
  const checked = limits.map(({ unit, value }, index) => {
    const parsed = parseUnit(registry, unit);
    const id = parsed.ok ? parsed.value.id : unit;
    const first = indexes.get(id);
    const field = `refundLimits[${index}].unit`;
    if (!parsed.ok) issues.push({ field, message: parsed.problem });
    else if (first !== undefined) issues.push({ field, message: `is the unit of refundLimits[${first}], too: ${id}` });
    else indexes.set(id, index);
    return { unit: id, value };
  });
  if (issues.length > 0) throw validationError(issues);
  return checked;
}

function viewLink({ config }: HttpDeps, { link, expiresAt, isMailed }: Relinked) {
  const url = link === null ? null : linkUrl(config.publicUrl, link);
  return { url, expiresAt: expiresAt.toISOString(), isMailed };
}

/** The data for a mail with a sign-in link. Undefined if no mail server is configured. */
function linkMail({ config, secrets }: HttpDeps, language: Language = 'en'): LinkMail | undefined {
  return config.smtp === undefined ? undefined : { publicUrl: config.publicUrl, language, secrets };
}

const TAGS = ['People'];
const { name, email, role, refundLimits } = PersonField;
const Params = Type.Object({ id: Type.String({ description: 'The person.' }) });
const One = Type.Object({ person: PersonBody }, { description: 'The person.' });

const LIST = {
  tags: TAGS,
  operationId: 'listPeople',
  summary: 'List people',
  description:
    'The people who may sign in for the partner, the oldest first, and then those of its merchants. A person of a merchant sees those of the merchant. A person of the operator sees those of the partner in `Partner-Id`, or without it those of the operator.',
  querystring: Type.Object({ cursor: Type.Optional(Cursor), limit: limitOf(MAX_LIMIT, LIMIT) }),
  response: { 200: pageOf({ people: Type.Array(PersonBody) }, 'PersonPage') },
};

const INVITE = {
  tags: TAGS,
  operationId: 'invitePerson',
  summary: 'Invite a person',
  description:
    'Answers with a link that signs the person in once. If the gateway has a server for mail, the link is also mailed to the person; `isMailed` says so; a partner can have 500 such mails a day, and ten to one inbox. Otherwise give it to the person yourself. A merchant has at most 200 people, and a partner at most 1000 of its own. Needs a passkey shown within the last 5 minutes.',
  body: Type.Object(
    {
      name,
      email,
      role,
      refundLimits: Type.Optional(refundLimits),
      merchantId: Type.Optional(
        nullable(
          Type.String({ maxLength: 64, description: 'The merchant that the person belongs to. Null: the partner.' }),
        ),
      ),
      language: Type.Optional(MailLanguage),
    },
    { title: 'NewPerson', additionalProperties: false },
  ),
  response: { 201: Type.Object({ person: PersonBody, link: LinkBody }, { description: 'The person is invited.' }) },
};

const CHANGE = {
  tags: TAGS,
  operationId: 'updatePerson',
  summary: 'Change a person',
  description: 'With `version` the change is refused if somebody else changed the person meanwhile.',
  params: Params,
  body: Type.Object(
    {
      name: Type.Optional(name),
      role: Type.Optional(role),
      refundLimits: Type.Optional(refundLimits),
      version: Type.Optional(Type.Integer({ minimum: 1, maximum: 2_000_000_000 })),
    },
    { title: 'PersonChange', additionalProperties: false },
  ),
  response: { 200: One },
};

const REMOVE = {
  tags: TAGS,
  operationId: 'removePerson',
  summary: 'Remove a person',
  description: 'Ends all sessions, links and passkeys of the person. The last owner cannot be removed.',
  params: Params,
  response: {
    200: deletedBody('The person is removed.'),
  },
};

const LINK = {
  tags: TAGS,
  operationId: 'createPersonLink',
  summary: 'Make a new link for a person',
  description:
    'For a person whose invitation has expired, or who has no passkey on this device. The link before ends. It is mailed as an invitation is. The link of a person who has a passkey is mailed to that person alone, and the answer does not show it; it signs in, and changes that need a passkey still need it. For a person who has lost every passkey, remove the person and invite them again.',
  params: Params,
  querystring: Type.Object({ language: Type.Optional(MailLanguage) }),
  response: { 201: Type.Object({ link: LinkBody }, { description: 'The link.' }) },
};
