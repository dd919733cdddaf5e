import { type Static, Type } from 'typebox';
import { accentColours } from '../../domain/accent.ts';
import { accentSheetPath } from '../../domain/accent-path.ts';
import type { Brand } from '../../store/parties/brands.ts';
import type { PayableMerchant } from '../../store/parties/merchants.ts';
import { nullable } from '../schemas.ts';
import { logoUrl, type Origin } from './icons.ts';

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

/** The brand of a page or a printed receipt for payers. */
export interface PageBrand {
  readonly logoUrl: string | null;
  /** The accent and the text on it. Undefined for the colours of the gateway. */
  readonly colours: { readonly main: string; readonly text: string } | undefined;
  /** The stylesheet with these colours, loaded after all others. */
  readonly sheet: string | undefined;
  readonly showsPoweredBy: boolean;
}

export function pageBrand(
  origin: Origin,
  merchant: Pick<PayableMerchant, 'logoHash' | 'accentColor' | 'showsPoweredBy'> | undefined,
): PageBrand {
  const { logoHash = null, accentColor = null, showsPoweredBy = true } = merchant ?? {};
  return {
    // Never the merchant's own URL, because loading it would reveal the payer to the merchant's server.
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
