import { type Static, Type } from 'typebox';
import type { Registry } from '../../chains/registry.ts';
import { parseUnit } from '../../chains/units.ts';
import type { Issue } from '../../errors.ts';
import type { PaymentDetails, StoredLineItem } from '../../store/payments/payment-details.ts';
import { nullable, PLAIN_LINES, plainText, textOf } from '../schemas.ts';

const LineItem = Type.Object(
  {
    name: textOf(200, 'The text for the payer.'),
    quantity: Type.Optional(nullable(Type.Integer({ minimum: 1, maximum: 1_000_000 }))),
    amount: Type.Optional(
      Type.Unsafe<{ unit: string; value: string } | null>({
        ...Type.Object(
          {
            unit: Type.String({ minLength: 1, maxLength: 256, examples: ['iso4217/USD'] }),
            value: Type.String({
              pattern: '^(0|[1-9][0-9]{0,77})$',
              'x-rule': 'must be a whole number of minor units, as 1 to 78 digits without a leading zero',
              examples: ['700'],
            }),
          },
          { title: 'LineItemAmount' },
        ),
        type: ['object', 'null'],
        description: 'Of the whole line. It is shown, and not compared with the amount to be paid.',
      }),
    ),
  },
  { title: 'NewLineItem' },
);

export const OrderDetails = {
  description: Type.Optional(nullable(textOf(500, 'A description of the order. Shown to the payer.'))),
  metadata: Type.Optional(
    Type.Unsafe<Record<string, string> | null>({
      type: ['object', 'null'],
      maxProperties: 20,
      propertyNames: {
        ...plainText(1, 40),
        'x-rule': 'must have keys of 1 to 40 characters without control characters',
      },
      additionalProperties: {
        type: 'string',
        maxLength: 500,
        ...PLAIN_LINES,
      },
      description:
        'Up to 20 texts of your own, by key. Returned to you, and never shown to the payer. In a sandbox the key `sandbox` chooses the outcome of a test payment: `wait`, `fail`, `screened`, `reorg`, `late`, `double` or `permit2`.',
      examples: [{ table: '14' }],
    }),
  ),
  lineItems: Type.Optional(
    nullable(Type.Array(LineItem, { maxItems: 100, description: 'The items of the order. Shown to the payer.' })),
  ),
};

type OrderBody = { readonly [Name in keyof typeof OrderDetails]?: Static<(typeof OrderDetails)[Name]> | undefined };

interface DetailsCheck {
  /** True if the schema found no problem in the field. */
  readonly hasForm: (field: string) => boolean;
  readonly issues: Issue[];
}

/** The details of an order. Null if it has none. */
export function readDetails(
  registry: Registry,
  { description, metadata, lineItems }: OrderBody,
  { hasForm, issues }: DetailsCheck,
): PaymentDetails | null {
  const items = hasForm('lineItems') ? (lineItems ?? []) : [];
  const details: PaymentDetails = {
    ...(description && { description }),
    ...(metadata && Object.keys(metadata).length > 0 && { metadata }),
    ...(items.length > 0 && { lineItems: items.flatMap((item, index) => readLineItem(item, `lineItems[${index}]`)) }),
  };
  return Object.keys(details).length === 0 ? null : details;

  function readLineItem(item: Static<typeof LineItem>, field: string): StoredLineItem[] {
    // The schema has reported the problem already, and the item may be null.
    if (!hasForm(field)) return [];
    const { name, quantity, amount } = item;
    const unit = amount && hasForm(`${field}.amount.unit`) ? parseUnit(registry, amount.unit) : undefined;
    if (unit?.ok === false) issues.push({ field: `${field}.amount.unit`, message: unit.problem });
    return [
      {
        name,
        ...(quantity && { quantity }),
        ...(amount &&
          unit?.ok && { amount: { unit: unit.value.id, value: amount.value, decimals: unit.value.decimals } }),
      },
    ];
  }
}
