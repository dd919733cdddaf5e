import type { FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import {
  changeDestination,
  registerSettlements,
  removeSettlement,
  settlementNotFound,
} from '../../actions/parties/change-destinations.ts';
import { servedNetworks } from '../../actions/paying/served-networks.ts';
import { destinationProblem } from '../../chains/destinations.ts';
import { assetsOf, isTestNetwork, type Registry } from '../../chains/registry.ts';
import { type Account, type Asset, parseAccount, parseAsset, sameChain } from '../../domain/caip.ts';
import type { Mode } from '../../domain/mode.ts';
import type { Parsed } from '../../domain/parsed.ts';
import { ApiError, type Issue, validationError } from '../../errors.ts';
import { coolingOffMs } from '../../settings/cooling-off.ts';
import { type CryptoSettlement, listSettlements, type Settlements } from '../../store/parties/destinations.ts';
import type { App, HttpDeps } from '../deps.ts';
import { actorOf, callerRights, merchantOf, onBehalfOf, ownerOf } from '../entry/caller.ts';
import { idempotentRequest, sendAnswer } from '../entry/idempotency.ts';
import { isPlausibleId } from '../entry/plausible-id.ts';
import { deletedBody, nullable, Timestamp } from '../schemas.ts';

const READ = { scheme: 'partner', scope: 'merchants:read', merchant: 'path' } as const;
const WRITE = { scheme: 'partner', scope: 'destinations:write', merchant: 'path', needsPasskey: true } as const;

export async function settlementRoutes(app: App, deps: HttpDeps): Promise<void> {
  app.get('/v1/merchants/:merchantId/settlements', { schema: LIST, config: { access: READ } }, async (request) =>
    viewSettlements(await listSettlements(deps.db.sql, merchantOf(request).id)),
  );

  app.post(
    '/v1/merchants/:merchantId/settlements/crypto',
    {
      schema: REGISTER,
      config: {
        access: WRITE,
        idempotency: 'required',
        errors: ['idempotency_conflict', 'invalid_state', 'not_sandbox_api_key'],
      },
    },
    async (request, reply) => {
      const settlements = parseSettlements(deps, request.body.settlements);
      refuseTestNetworks(deps.registry, request, settlements);
      const meaning = settlements.map(({ asset, destination }) => [asset.key, destination.id]);
      const input = {
        owner: ownerOf(request),
        actor: actorOf(request),
        merchantId: merchantOf(request).id,
        settlements,
        coolingOffMs: coolingOffMs(deps.config, callerRights(request).mode),
      };
      const answer = await registerSettlements(
        onBehalfOf(request, deps),
        input,
        idempotentRequest(request, meaning),
        (registered) => ({
          status: 201,
          body: {
            settlements: registered.map(viewCrypto),
            ...noticesOf(deps, callerRights(request).mode, registered),
          },
        }),
      );
      return sendAnswer(deps, reply, answer);
    },
  );

  app.put(
    '/v1/merchants/:merchantId/settlements/crypto/:id',
    { schema: CHANGE, config: { access: WRITE, errors: ['invalid_state'] } },
    async (request) => {
      const destination = wellFormed(parseAccount(request.body.destination));
      const { ifUnchanged: seen } = request.body;
      const changed = await changeDestination(onBehalfOf(request, deps), {
        ...targetOf(request),
        destination,
        coolingOffMs: coolingOffMs(deps.config, callerRights(request).mode, destination),
        ...(seen !== undefined && { seen }),
      });
      return viewCrypto(changed);
    },
  );

  app.delete(
    '/v1/merchants/:merchantId/settlements/crypto/:id',
    { schema: REMOVE, config: { access: WRITE } },
    async (request) => {
      const target = targetOf(request);
      await removeSettlement(onBehalfOf(request, deps), target);
      return { id: target.settlementId, deleted: true as const };
    },
  );
}

export function viewSettlements({ crypto, fiat }: Settlements) {
  return {
    crypto: crypto.map(viewCrypto),
    fiat: fiat.map(({ id, status, bankType }) => ({ id, status, bankType })),
  };
}

function viewCrypto({ id, asset, destination, pendingDestination, effectiveAt }: CryptoSettlement) {
  const isPending = pendingDestination !== null && effectiveAt !== null;
  return { id, asset, destination, ...(isPending && { pendingDestination, effectiveAt: effectiveAt.toISOString() }) };
}

/**
 * The notices about destinations on networks that are not connected. Such a destination may be registered, but nothing is paid
 * there yet.
 */
function noticesOf(deps: HttpDeps, mode: Mode, settlements: readonly CryptoSettlement[]) {
  const payable = new Set(
    servedNetworks(deps, mode).flatMap(({ chain }) =>
      assetsOf(deps.registry, chain.network.chainId).map(({ id }) => id),
    ),
  );
  const notices = settlements
    .filter(({ asset }) => !payable.has(asset))
    .map(({ asset }) => ({ asset, message: NOT_SERVED }));
  return notices.length === 0 ? {} : { notices };
}

const NOT_SERVED =
  'No payment is offered in this asset: this gateway has no such asset on a network of this mode. GET /v1/assets lists the assets it has.';

function targetOf(request: FastifyRequest<{ Params: { id: string } }>) {
  const { id } = request.params;
  if (!isPlausibleId(id)) throw settlementNotFound(id);
  return { owner: ownerOf(request), actor: actorOf(request), merchantId: merchantOf(request).id, settlementId: id };
}

interface ParsedSettlement {
  readonly asset: Asset;
  readonly destination: Account;
}

/** Parses the settlement destinations. Throws one error that names every field that does not fit. */
function parseSettlements(
  deps: HttpDeps,
  pairs: readonly { asset: string; destination: string }[],
): ParsedSettlement[] {
  const issues: Issue[] = [];
  const seen = new Set<string>();
  const parsed = pairs.map((pair, index) => {
    const at = (field: string) => `settlements[${index}].${field}`;
    const asset = wellFormed(parseAsset(pair.asset));
    const destination = wellFormed(parseAccount(pair.destination));
    const problem = sameChain(asset, destination)
      ? destinationProblem(deps, destination, asset.id)
      : `must be an account on ${asset.chainId}, the chain of the asset`;
    if (problem !== undefined) issues.push({ field: at('destination'), message: problem });
    if (seen.has(asset.key)) issues.push({ field: at('asset'), message: 'is named more than once' });
    seen.add(asset.key);
    return { asset, destination };
  });
  if (issues.length > 0) throw validationError(issues);
  return parsed;
}

/** The parsed value. The schema has accepted the text, so a failure to parse it is a fault of ours. */
function wellFormed<T>(parsed: Parsed<T>): T {
  if (!parsed.ok) throw new Error(`The schema accepted a value that ${parsed.problem}.`);
  return parsed.value;
}

/** Refuses assets of a test network for a live key: nobody may expect real money on a test network. */
function refuseTestNetworks(
  registry: Registry,
  request: FastifyRequest,
  settlements: readonly ParsedSettlement[],
): void {
  const test = settlements.find(({ asset }) => isTestNetwork(registry, asset.chainId));
  if (callerRights(request).mode === 'test' || test === undefined) return;
  throw new ApiError('not_sandbox_api_key', `A live key cannot use ${test.asset.id}, an asset of a test network.`);
}

const TAGS = ['Settlement destinations'];
const ASSET_PATTERN = '^[-a-zA-Z0-9]{3,8}:[-_a-zA-Z0-9]{1,32}/[-a-zA-Z0-9]{3,8}:[-.%a-zA-Z0-9]{1,128}$';
const ACCOUNT_PATTERN = '^[-a-zA-Z0-9]{3,8}:[-_a-zA-Z0-9]{1,32}:[-.%a-zA-Z0-9]{1,128}$';

const AssetField = Type.String({
  minLength: 1,
  maxLength: 256,
  pattern: ASSET_PATTERN,
  'x-rule': 'must be a CAIP-19 asset id such as eip155:8453/erc20:0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
  'x-form': 'caip19-asset',
  description: 'CAIP-19 asset id on an `eip155` or `solana` chain.',
  examples: ['eip155:8453/erc20:0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913'],
});

const DestinationField = Type.String({
  minLength: 1,
  maxLength: 256,
  pattern: ACCOUNT_PATTERN,
  'x-rule': 'must be a CAIP-10 account such as eip155:8453:0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
  'x-form': 'caip10-account',
  description: "CAIP-10 account on the asset's chain. EVM addresses are stored with their checksum.",
  examples: ['eip155:8453:0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed'],
});

const CryptoBody = Type.Object(
  {
    id: Type.String({ description: 'Begins with `crypto_`.' }),
    asset: Type.String(),
    destination: Type.String({ description: 'In force.' }),
    pendingDestination: Type.Optional(
      Type.String({ description: 'Takes the place of `destination` at `effectiveAt`, while a change cools off.' }),
    ),
    effectiveAt: Type.Optional(Timestamp),
  },
  { title: 'SettlementDestination' },
);

const FiatBody = Type.Object(
  {
    id: Type.String({ description: 'Begins with `fiat_`.' }),
    status: Type.String(),
    bankType: Type.String(),
  },
  { title: 'FiatDestination' },
);

export const SettlementsBody = Type.Object(
  { crypto: Type.Array(CryptoBody), fiat: Type.Array(FiatBody) },
  { title: 'SettlementDestinations' },
);

const Params = Type.Object({ merchantId: Type.String({ description: 'The merchant.' }) });
const SettlementParams = Type.Object({ ...Params.properties, id: Type.String({ description: 'The settlement.' }) });

const LIST = {
  tags: TAGS,
  operationId: 'listSettlementDestinations',
  summary: 'List settlement destinations',
  description: 'Crypto destinations, and the fiat ones the operator keeps.',
  params: Params,
  response: { 200: { ...SettlementsBody, description: 'All of them.' } as typeof SettlementsBody },
};

const REGISTER = {
  tags: TAGS,
  operationId: 'createSettlementDestinations',
  summary: 'Register crypto destinations',
  description:
    'All of them or none. A merchant has at most one destination per asset. The first one takes new payments at once, and held money after the cooling-off period. One that takes the place of a removed destination waits for that period, and the removed one is in force again until then.',
  params: Params,
  body: Type.Object(
    {
      settlements: Type.Array(
        Type.Object({ asset: AssetField, destination: DestinationField }, { title: 'NewDestination' }),
        {
          minItems: 1,
          maxItems: 50,
        },
      ),
    },
    { title: 'NewDestinations' },
  ),
  response: {
    201: Type.Object(
      {
        settlements: Type.Array(CryptoBody),
        notices: Type.Optional(
          Type.Array(Type.Object({ asset: Type.String(), message: Type.String() }, { title: 'SettlementNotice' }), {
            description:
              'The assets that no configured network has. Their destinations are registered, and wait for one.',
          }),
        ),
      },
      { description: 'The new destinations.' },
    ),
  },
};

const CHANGE = {
  tags: TAGS,
  operationId: 'updateSettlementDestination',
  summary: 'Change a crypto destination',
  description:
    'The change applies after the cooling-off period: 24 hours for live merchants unless the operator has set another, none for test merchants. Until then the old destination stays in force, for new payments and held money, and the operator can veto the change. Asking for the old destination withdraws it.',
  params: SettlementParams,
  body: Type.Object(
    {
      destination: DestinationField,
      ifUnchanged: Type.Optional(
        Type.Object(
          {
            destination: Type.Optional(Type.String({ maxLength: 256 })),
            pendingDestination: Type.Optional(nullable(Type.String({ maxLength: 256 }))),
          },
          {
            title: 'SeenDestination',
            additionalProperties: false,
            description:
              'Values of the destination that you have seen; null: no change is pending. If one of them has changed meanwhile, nothing is changed: 409 `invalid_state`, with the present values in `details.current`.',
          },
        ),
      ),
    },
    { title: 'DestinationChange' },
  ),
  response: { 200: { ...CryptoBody, description: 'The destination as it is now.' } as typeof CryptoBody },
};

const REMOVE = {
  tags: TAGS,
  operationId: 'deleteSettlementDestination',
  summary: 'Remove a crypto destination',
  description: 'Later payments in that asset are no longer settled by themselves.',
  params: SettlementParams,
  response: { 200: deletedBody('It is removed.') },
};
