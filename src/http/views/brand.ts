import { type Static, Type } from 'typebox';
import { accentColours } from '../../domain/accent.ts';
import { accentSheetPath } from '../../domain/accent-path.ts';
import type { Brand } from '../../store/parties/brands.ts';
import type { PayableMerchant } from '../../store/parties/merchants.ts';
import { nullable } from '../schemas.ts';
import { logoUrl, type Origin } from './icons.ts';

/** The brand of a merchant, for its people and programs. */
export function viewBrand(
  origin: Origin,
  { uploadedHash, copiedHash, accentColor, showsPoweredBy }: Brand,
): Static<typeof BrandBody> {
  const urlOf = (hash: string | null) => (hash === null ? null : logoUrl(origin, hash));
  return {
    logoUrl: urlOf(uploadedHash ?? copiedHash),
    uploadedLogoUrl: urlOf(uploadedHash),
    copiedLogoUrl: urlOf(copiedHash),
    accentColor,
    poweredBy: showsPoweredBy,
  };
}

/** The brand of a page that a payer sees, or of a paper that a payer gets. */
export interface PageBrand {
  readonly logoUrl: string | null;
  /** The accent and the text on it. Undefined: those of the gateway. */
  readonly colours: { readonly main: string; readonly text: string } | undefined;
  /** The stylesheet that gives a page these colours. It comes after the others. */
  readonly sheet: string | undefined;
  readonly showsPoweredBy: boolean;
}

export function pageBrand(
  origin: Origin,
  merchant: Pick<PayableMerchant, 'logoHash' | 'accentColor' | 'showsPoweredBy'> | undefined,
): PageBrand {
  const { logoHash = null, accentColor = null, showsPoweredBy = true } = merchant ?? {};
  return {
    // Never the merchant's own URL: loading it would reveal the payer to its server.
    logoUrl: logoHash === null ? null : logoUrl(origin, logoHash),
    colours: accentColor === null ? undefined : accentColours(accentColor),
    sheet: accentColor === null ? undefined : accentSheetPath(accentColor),
    showsPoweredBy,
  };
}

export const BrandBody = Type.Object(
  {
    logoUrl: nullable(
      Type.String({
        description:
          'The logo that payers see: the uploaded one, else the copy of the one at `iconUrl`. Null: the initials.',
      }),
    ),
    uploadedLogoUrl: nullable(Type.String({ description: 'The uploaded logo.' })),
    copiedLogoUrl: nullable(Type.String({ description: 'The copy of the logo at `iconUrl`, once it was made.' })),
    accentColor: nullable(
      Type.String({
        description: 'The colour of buttons, `#rrggbb`. Null: that of the gateway.',
        examples: ['#635bff'],
      }),
    ),
    poweredBy: Type.Boolean({ description: 'True if the pages name the gateway at their end.' }),
  },
  { title: 'Branding' },
);
