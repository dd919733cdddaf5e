import { type Static, Type } from 'typebox';
import { changeBrand } from '../../actions/parties/change-brand.ts';
import { accentProblem, parseColour } from '../../domain/accent.ts';
import { type Issue, validationError } from '../../errors.ts';
import { type Brand, findBrand } from '../../store/parties/brands.ts';
import type { App, HttpDeps } from '../deps.ts';
import { actorOf, merchantOf, onBehalfOf, ownerOf } from '../entry/caller.ts';
import { LOGO_PICTURE, readPicture } from '../entry/picture.ts';
import { atLeastOneOf, nullable, pictureField } from '../schemas.ts';
import { BrandBody, viewBrand } from '../views/brand.ts';
import { MerchantParams } from './merchants.ts';

/**
 * The access for reading the branding. It needs no right beyond that for payments, because the point of sale shows the branding,
 * and cashiers may read only payments.
 */
const READ = { scheme: 'partner', scope: 'payments:read', merchant: 'path' } as const;
const WRITE = { scheme: 'partner', scope: 'merchants:write', merchant: 'path' } as const;

export async function brandingRoutes(app: App, deps: HttpDeps): Promise<void> {
  const view = (brand: Brand) => viewBrand(deps.config, brand);

  app.get('/v1/merchants/:merchantId/branding', { schema: GET, config: { access: READ } }, async (request) => ({
    branding: view(await findBrand(deps.db.sql, merchantOf(request).id)),
  }));

  app.patch(
    '/v1/merchants/:merchantId/branding',
    {
      schema: PATCH,
      config: { access: WRITE, errors: ['invalid_state'] },
      bodyLimit: LOGO_PICTURE.bodyBytes,
    },
    async (request) => {
      const { ifUnchanged: seen } = request.body;
      const { id: merchantId } = merchantOf(request);
      const input = { owner: ownerOf(request), actor: actorOf(request), merchantId };
      const changes = await readChanges(request.body);
      const change = { ...input, changes, ...(seen !== undefined && { seen }) };
      const brand = await changeBrand(onBehalfOf(request, deps), change, view);
      deps.merchants.forget(merchantId);
      return { branding: view(brand) };
    },
  );
}

async function readChanges({ logo, accentColor, poweredBy }: Static<(typeof PATCH)['body']>) {
  const issues: Issue[] = [];
  const changes = {
    ...(logo !== undefined && {
      logo: (await readPicture('logo', { base64: logo, limit: LOGO_PICTURE }, issues)) ?? null,
    }),
    ...(accentColor !== undefined && { accentColor: readAccent(accentColor, issues) }),
    ...(poweredBy !== undefined && { showsPoweredBy: poweredBy }),
  };
  if (issues.length > 0) throw validationError(issues);
  return changes;
}

/** The accent colour: null, or a colour that is visible in both themes. Problems are added to `issues`. */
function readAccent(text: string | null, issues: Issue[]): string | null {
  const colour = text === null ? null : parseColour(text);
  const problem = colour === null ? undefined : accentProblem(colour);
  if (problem !== undefined) {
    const { theme, ground, ratio, needed, nearest } = problem;
    const message = `must have a contrast of at least ${needed}:1 against the backgrounds of both themes; against ${ground} of the ${theme} theme it has ${ratio}:1; the nearest colour with enough is ${nearest}`;
    issues.push({ field: 'accentColor', message });
  }
  return colour;
}

const TAGS = ['Merchants'];
const One = Type.Object({ branding: BrandBody }, { description: 'The branding.' });

const GET = {
  tags: TAGS,
  operationId: 'getMerchantBranding',
  summary: 'Get the branding of a merchant',
  description: 'The logo, the accent colour and the closing line of the pages that its payers see.',
  params: MerchantParams,
  response: { 200: One },
};

const CHANGES = {
  logo: nullable(pictureField(LOGO_PICTURE)),
  accentColor: nullable(
    Type.String({
      pattern: '^#[0-9a-fA-F]{6}$',
      'x-rule': 'must be a colour as #rrggbb',
      description:
        'The colour of buttons. It must have a contrast of 3:1 against the backgrounds of the light and the dark theme. The text on it is black or white, whichever has more contrast. Null: that of the gateway.',
      examples: ['#635bff'],
    }),
  ),
  poweredBy: Type.Boolean({ description: 'False hides the name of the gateway at the end of the pages.' }),
};

const PATCH = {
  tags: TAGS,
  operationId: 'updateMerchantBranding',
  summary: 'Change the branding of a merchant',
  description:
    'Give at least one field. An uploaded logo is shown instead of the copy of the one at `iconUrl`; `logo: null` removes it. Payers see the change when they next open a page, on other nodes after some seconds.',
  params: MerchantParams,
  body: Type.Object(
    {
      logo: Type.Optional(CHANGES.logo),
      accentColor: Type.Optional(CHANGES.accentColor),
      poweredBy: Type.Optional(CHANGES.poweredBy),
      ifUnchanged: Type.Optional(
        Type.Object(
          {
            uploadedLogoUrl: Type.Optional(nullable(Type.String({ maxLength: 2048 }))),
            accentColor: Type.Optional(nullable(Type.String({ maxLength: 7 }))),
            poweredBy: Type.Optional(Type.Boolean()),
          },
          {
            title: 'SeenBranding',
            additionalProperties: false,
            description:
              'Values of the branding that you have seen. If one of them has changed meanwhile, nothing is changed: 409 `invalid_state`, with the present values in `details.current`.',
          },
        ),
      ),
    },
    {
      title: 'BrandingChange',
      additionalProperties: false,
      ...atLeastOneOf(Object.keys(CHANGES)),
    },
  ),
  response: { 200: One },
};
