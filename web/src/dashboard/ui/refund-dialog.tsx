import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { decimalText } from '../../../../src/domain/money.ts';
import { typedUnits } from '../../../../src/domain/typed-amount.ts';
import { formatAmount } from '../../shared/money.ts';
import { fill } from '../../shared/text.ts';
import { call } from '../api.ts';
import type { Payment } from '../api-types.ts';
import { leftToRefund, refundRequest } from '../refunded.ts';
import { usePageState, useWords } from '../words.ts';
import { Dialog, Field, FormEnd } from './parts.tsx';
import { useChange } from './use-change.ts';

/** Refunds a part of a payment, or everything that the gateway reports as refundable. */
export function RefundDialog({ payment, onClose }: { readonly payment: Payment; readonly onClose: () => void }) {
  const words = useWords();
  const style = usePageState();
  const client = useQueryClient();
  const { isRunning, problem, run } = useChange();
  const { decimals } = payment.amount.display;
  const left = leftToRefund(payment);
  const [text, setText] = useState(decimalText(left, decimals));
  const [reason, setReason] = useState('');
  // The Idempotency-Key. A repeated request with the same key does not refund twice. Changed values get a new key.
  const [key, setKey] = useState(() => crypto.randomUUID());
  const units = typedUnits(text, decimals);
  // True if the typed text is complete but not an amount. A text that ends with a separator is not complete yet.
  const isUnread = units === undefined && /\p{Nd}$/u.test(text.trim());
  const isGood = units !== undefined && units > 0n && units <= left;
  const shown = (value: bigint) => formatAmount({ ...payment.amount, value: value.toString() }, style);
  const refund = () =>
    run(async () => {
      if (!isGood) return;
      await call('POST', '/v1/refunds', {
        merchantId: payment.merchantId,
        idempotencyKey: key,
        body: refundRequest(payment, { units, reason }),
      });
      await client.invalidateQueries({ queryKey: ['payments'] });
      onClose();
    });
  return (
    <Dialog title={words.refundTitle} onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void refund();
        }}
      >
        <p>{words.refundText}</p>
        <Field label={fill(words.refundAmount, { amount: shown(left) })}>
          {(id) => (
            <input
              id={id}
              type="text"
              inputMode="decimal"
              autoComplete="off"
              dir="ltr"
              value={text}
              aria-invalid={!isGood}
              onChange={(event) => {
                setKey(crypto.randomUUID());
                setText(event.target.value);
              }}
            />
          )}
        </Field>
        <Field label={words.refundReason}>
          {(id) => (
            <input
              id={id}
              type="text"
              maxLength={500}
              value={reason}
              onChange={(event) => {
                setKey(crypto.randomUUID());
                setReason(event.target.value);
              }}
            />
          )}
        </Field>
        <FormEnd
          label={isGood ? fill(words.refundButton, { amount: shown(units) }) : words.refund}
          isRunning={isRunning || !isGood}
          problem={problem ?? (isUnread ? words.badAmount : undefined)}
          onCancel={onClose}
        />
      </form>
    </Dialog>
  );
}
