import { Type } from 'typebox';
import { LINK_STATUSES, MAX_STOCK } from '../../domain/payment-link.ts';
import type { PaymentLink } from '../../store/payments/payment-links.ts';
import { LINK_PICTURE } from '../entry/picture.ts';
import { acceptedAssetsField, namedEnum, nullable, pictureField, Timestamp, textOf } from '../schemas.ts';
import { AmountBody, viewAmount } from './amount.ts';
import { logoUrl, type Origin } from './icons.ts';

export const LINK_PATH = '/l/';

/** The URL of a link's page. It has the link's id without its prefix. */
function linkUrl({ publicUrl }: Origin, id: string): string {
  return `${publicUrl}${LINK_PATH}${id.slice('plk_'.length)}`;
}

export function viewLink(origin: Origin, link: PaymentLink) {
  const { id, description, referenceId, status, stock, taken, expiresAt, acceptedAssets, pictureHash, createdAt } =
    link;
  const amountOf = (value: string | null) =>
    value === null ? null : viewAmount(origin, link.amountUnit, value, link.amountDecimals);
  return {
    id,
    url: linkUrl(origin, id),
    description,
    referenceId,
    amount: amountOf(link.amountValue),
    minimum: amountOf(link.minimumValue),
    maximum: amountOf(link.maximumValue),
    stock,
    taken,
    status,
    expiresAt: expiresAt === null ? null : expiresAt.getTime() / 1000,
    acceptedAssets: acceptedAssets as string[] | null,
    pictureUrl: pictureHash === null ? null : logoUrl(origin, pictureHash),
    createdAt: createdAt.toISOString(),
  };
}

export const LinkField = {
  description: textOf(500, 'What the payer pays for.'),
  stock: nullable(
    Type.Integer({
      minimum: 1,
      maximum: MAX_STOCK,
      description:
        'Pieces in all. `1` makes a link that is paid once. Null: no end. A payment takes its piece when it is `processing` and returns it if it ends unpaid.',
      examples: [20],
    }),
  ),
  expiresAt: nullable(
    Type.Integer({
      description: 'The link takes no new payments from then on. Seconds since the epoch. Null: no end.',
    }),
  ),
  status: namedEnum('PaymentLinkStatus', LINK_STATUSES, 'An inactive link takes no new payments.'),
  acceptedAssets: acceptedAssetsField(
    'The assets that payments of this link can be paid with. The lists of the merchant and of the partner hold as well.',
  ),
  picture: nullable(pictureField(LINK_PICTURE)),
};

const orNull = Type.Unsafe<ReturnType<typeof viewAmount> | null>({ ...AmountBody, type: ['object', 'null'] });

export const LinkBody = Type.Object(
  {
    id: Type.String({ description: 'Begins with `plk_`.', examples: ['plk_01KHRZ5Q8MB2N4P6R8T0V2X4Z6'] }),
    url: Type.String({ description: 'The page for payers.' }),
    description: Type.String(),
    referenceId: Type.String({ description: 'That of its payments.' }),
    amount: { ...orNull, description: 'The price. Null if the payer chooses the amount.' } as typeof orNull,
    minimum: { ...orNull, description: 'The bounds of an amount that the payer chooses.' } as typeof orNull,
    maximum: orNull,
    stock: LinkField.stock,
    taken: nullable(
      Type.Integer({ minimum: 0, description: 'Pieces that are being paid or have been paid. Null without a stock.' }),
    ),
    status: LinkField.status,
    expiresAt: nullable(Type.Integer({ description: 'Seconds since the epoch.' })),
    acceptedAssets: LinkField.acceptedAssets,
    pictureUrl: nullable(Type.String()),
    createdAt: Timestamp,
  },
  { title: 'PaymentLink' },
);
