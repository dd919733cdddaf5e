import { Type } from 'typebox';
import type { PaymentDetails, StoredLineItem } from '../../store/payments/payment-details.ts';
import { nullable } from '../schemas.ts';
import { AmountBody, viewAmount } from './amount.ts';
import type { Origin } from './icons.ts';

export function viewOrder(origin: Origin, { description, lineItems }: PaymentDetails) {
  return { description: description ?? null, lineItems: lineItems?.map((item) => viewLineItem(origin, item)) ?? null };
}

function viewLineItem(origin: Origin, { name, quantity, amount }: StoredLineItem) {
  const shown = amount && viewAmount(origin, amount.unit, amount.value, amount.decimals);
  return { name, quantity: quantity ?? null, amount: shown ?? null };
}

export const OrderBody = {
  description: nullable(Type.String({ description: 'As given.' })),
  lineItems: Type.Unsafe<ReturnType<typeof viewLineItem>[] | null>({
    ...Type.Array(
      Type.Object(
        {
          name: Type.String(),
          quantity: nullable(Type.Integer()),
          amount: Type.Unsafe({ ...AmountBody, type: ['object', 'null'] }),
        },
        { title: 'LineItem' },
      ),
    ),
    type: ['array', 'null'],
    description: 'The given items, with the data to format their amounts.',
  }),
};

export const MetadataBody = Type.Unsafe<Readonly<Record<string, string>> | null>({
  type: ['object', 'null'],
  additionalProperties: { type: 'string' },
  description: 'As given.',
});
