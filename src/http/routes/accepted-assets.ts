import { Type } from 'typebox';
import { changePartner } from '../../actions/parties/change-partner.ts';
import { ApiError } from '../../errors.ts';
import { findPartner } from '../../store/parties/partners.ts';
import type { App, HttpDeps } from '../deps.ts';
import { canonicalAccepted, checkAccepted } from '../entry/accepted-assets.ts';
import { actorOf, callerRights, onBehalfOf } from '../entry/caller.ts';
import { acceptedAssetsField } from '../schemas.ts';

const READ = { scheme: 'partner', scope: 'merchants:read' } as const;
/** A change of the list decides in which tokens all merchants are paid, so it needs a passkey. */
const WRITE = { scheme: 'partner', scope: 'merchants:write', needsPasskey: true } as const;

/**
 * Routes for the partner's list of accepted assets, which holds for all its merchants of the mode. Merchants, links and payments
 * have lists of their own.
 */
export async function acceptedAssetRoutes(app: App, deps: HttpDeps): Promise<void> {
  app.get('/v1/accepted-assets', { schema: GET, config: { access: READ } }, async (request) => {
    const { partnerId, mode } = callerRights(request);
    const partner = await findPartner(deps.db.sql, partnerId);
    return { acceptedAssets: (partner?.accepted[mode] ?? null) as string[] | null };
  });

  app.put(
    '/v1/accepted-assets',
    { schema: PUT, config: { access: WRITE, errors: ['invalid_state', 'not_sandbox_api_key'] } },
    async (request) => {
      const { partnerId, mode, merchantIds } = callerRights(request);
      if (merchantIds !== null) {
        throw new ApiError('forbidden', 'You may act for certain merchants only. Change the lists of these merchants.');
      }
      const { acceptedAssets, ifUnchanged } = request.body;
      checkAccepted(deps, mode, acceptedAssets);
      const changes = { accepted: { [mode]: canonicalAccepted(acceptedAssets) } };
      const seen = ifUnchanged && { mode, acceptedAssets: ifUnchanged.acceptedAssets };
      const input = { actor: actorOf(request), partnerId, changes, ...(seen && { seen }) };
      const { accepted } = await changePartner(onBehalfOf(request, deps), input);
      return { acceptedAssets: accepted[mode] as string[] | null };
    },
  );
}

const TAGS = ['Merchants'];
const field = acceptedAssetsField(
  "The assets that payments of all the partner's merchants in this mode can be paid with.",
);
const Body = Type.Object(
  { acceptedAssets: field },
  { title: 'PartnerAssets', description: 'The list of the partner.' },
);

const GET = {
  tags: TAGS,
  operationId: 'getAcceptedAssets',
  summary: "Get the partner's accepted assets",
  description:
    'A payment can be paid with the assets that the lists of the partner, of its merchant, and of the payment or its link have in common.',
  response: { 200: Body },
};

const PUT = {
  tags: TAGS,
  operationId: 'setAcceptedAssets',
  summary: "Set the partner's accepted assets",
  description:
    'Holds for new payments on every node within five seconds: each payment keeps the list that it was created with. Refused if a merchant with a list of its own would have nothing left to be paid with.',
  body: Type.Object(
    {
      acceptedAssets: field,
      ifUnchanged: Type.Optional(
        Type.Object(
          { acceptedAssets: field },
          {
            title: 'SeenPartnerAssets',
            additionalProperties: false,
            description:
              'The list that you have seen. If it has changed meanwhile, nothing is changed: 409 `invalid_state`, with the present list in `details.current`.',
          },
        ),
      ),
    },
    { title: 'PartnerAssetsChange', additionalProperties: false },
  ),
  response: { 200: Body },
};
