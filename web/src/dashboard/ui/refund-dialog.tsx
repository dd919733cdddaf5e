import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { decimalText } from '../../../../src/domain/money.ts';
import { refundLimitOf } from '../../../../src/domain/role.ts';
import { typedUnits } from '../../../../src/domain/typed-amount.ts';
import { formatAmount } from '../../shared/money.ts';
import { fill } from '../../shared/text.ts';
import { call } from '../api.ts';
import type { Payment } from '../api-types.ts';
import { sessionQuery, useSession } from '../queries.ts';
import { mayRefund, refundRequest } from '../refunded.ts';
import { usePageState, useWords } from '../words.ts';
import { Dialog, Field, FormEnd, Notice } from './parts.tsx';
import { useChange } from './use-change.ts';

/** Refunds a part of a payment, or everything that the gateway reports as refundable, within the limit of the person. */
export function RefundDialog({ payment, onClose }: { readonly payment: Payment; readonly onClose: () => void }) {
  const words = useWords();
  const limit = useRefundLimit(payment);
  // The payment as it was. The refund itself uses the limit up, and the form stays until the dialog is closed.
  const [opened] = useState(payment);
  return (
    <Dialog title={words.refundTitle} onClose={onClose}>
      {mayRefund(opened, limit.units) > 0n ? (
        <RefundForm payment={payment} most={mayRefund(payment, limit.units)} limitText={limit.text} onClose={onClose} />
      ) : (
        <>
          <Notice kind="warm">{limit.text}</Notice>
          <div className="dialog-actions">
            <button type="button" className="main" onClick={onClose}>
              {words.close}
            </button>
          </div>
        </>
      )}
    </Dialog>
  );
}

/** The person's limit for refunds of the payment, and a text that says it. Both are undefined if the person has none. */
function useRefundLimit({ amount }: Payment): { readonly units?: bigint; readonly text?: string } {
  const words = useWords();
  const style = usePageState();
  const { person } = useSession();
  // An owner may have changed the limit since the page was opened.
  useQuery({ ...sessionQuery, staleTime: 0 });
  const units = refundLimitOf(person, amount.unit);
  if (units === undefined) return {};
  const text =
    units === 0n
      ? fill(words.refundNotAllowed, { currency: amount.display.assetSymbol })
      : fill(words.refundLimited, { amount: formatAmount({ ...amount, value: units.toString() }, style) });
  return { units, text };
}

interface RefundFormProps {
  readonly payment: Payment;
  /** The largest amount that the person may refund now. */
  readonly most: bigint;
  readonly limitText: string | undefined;
  readonly onClose: () => void;
}

function RefundForm({ payment, most, limitText, onClose }: RefundFormProps) {
  const words = useWords();
  const style = usePageState();
  const client = useQueryClient();
  const { isRunning, problem, run } = useChange();
  const { decimals } = payment.amount.display;
  const [text, setText] = useState(decimalText(most, decimals));
  const [reason, setReason] = useState('');
  // The Idempotency-Key. A repeated request with the same key does not refund twice. Changed values get a new key.
  const [key, setKey] = useState(() => crypto.randomUUID());
  const units = typedUnits(text, decimals);
  // True if the typed text is complete but not an amount. A text that ends with a separator is not complete yet.
  const isUnread = units === undefined && /\p{Nd}$/u.test(text.trim());
  const isGood = units !== undefined && units > 0n && units <= most;
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
    <form
      onSubmit={(event) => {
        event.preventDefault();
        void refund();
      }}
    >
      <p>{words.refundText}</p>
      {limitText !== undefined && <p>{limitText}</p>}
      <Field label={fill(words.refundAmount, { amount: shown(most) })}>
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
  );
}
