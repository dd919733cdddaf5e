import { useQuery, useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { formatAmount } from '../../shared/money.ts';
import { chainOf, transactionPath } from '../../shared/networks.ts';
import { fill, shortAccount } from '../../shared/text.ts';
import { call } from '../api.ts';
import type { LateMoney, Payment } from '../api-types.ts';
import { LATE_WORDS, REASON_WORDS } from '../late-words.ts';
import { useMay } from '../queries.ts';
import { usePageState, useTimes, useWords } from '../words.ts';
import { AccountField, accountIn } from './account-field.tsx';
import { Form } from './form.tsx';
import { Dialog, FormEnd, problemOf, Time, waitText } from './parts.tsx';
import { useChange } from './use-change.ts';

/** A payment's late money, and buttons to return it. Renders nothing if there is none. */
export function LateMoneyList({ payment }: { readonly payment: Payment }) {
  const words = useWords();
  const { id, merchantId } = payment;
  const { data } = useQuery({
    queryKey: ['payments', 'late', id],
    queryFn: ({ signal }) =>
      call<{ lateMoney: readonly LateMoney[] }>('GET', `/v1/late-money?paymentId=${id}`, { merchantId, signal }),
  });
  if (data === undefined || data.lateMoney.length === 0) return null;
  return (
    <section aria-labelledby="late-money">
      <h2 id="late-money">{words.lateMoney}</h2>
      <ul className="plain-list">
        {data.lateMoney.map((money) => (
          <LateRow key={money.id} money={money} />
        ))}
      </ul>
    </section>
  );
}

interface LateProps {
  readonly money: LateMoney;
  /** The payment, shown if the list has late money of several payments. */
  readonly title?: ReactNode;
}

export function LateRow({ money, title }: LateProps) {
  const words = useWords();
  const style = usePageState();
  const times = useTimes();
  const [isAsked, setAsked] = useState(false);
  const mayRefund = useMay('refunds:write');
  const mayRedirect = useMay('destinations:write');
  const { status, reason, problem, amount, destination, returnTxId, waitingFor, createdAt } = money;
  const [word, badge] = LATE_WORDS[status];
  const transaction = returnTxId === null ? null : transactionPath(chainOf(amount.unit), returnTxId);
  const wait =
    waitingFor === null
      ? undefined
      : waitText(words, waitingFor, {
          amount: formatAmount(waitingFor.amount, style),
          time: times.full(waitingFor.until ?? waitingFor.since),
        });
  return (
    <li>
      <span className="person-names">
        <span>
          {title} {formatAmount(amount, style)}
        </span>
        <span className="soft small">{words[REASON_WORDS[reason]]}</span>
        {status === 'unclaimed' && problem !== null && (
          <span className="soft small">{problemOf(words, problem) ?? problem}</span>
        )}
        {wait !== undefined && <span className="soft small">{wait}</span>}
        {destination !== null && (
          <span className="soft small agent" dir="ltr">
            {transaction === null ? shortAccount(destination) : <a href={transaction}>{shortAccount(destination)}</a>}
          </span>
        )}
      </span>
      {status === 'unclaimed' && mayRefund && mayRedirect ? (
        <button type="button" className="quiet small" onClick={() => setAsked(true)}>
          {words.giveBack}
        </button>
      ) : (
        <span className={`badge ${badge}`}>{words[word]}</span>
      )}
      <span className="soft small">
        <Time at={createdAt} />
      </span>
      {isAsked && <GiveBackDialog money={money} onClose={() => setAsked(false)} />}
    </li>
  );
}

/** Returns late money to an account that the payer named. */
function GiveBackDialog({ money, onClose }: Pick<LateProps, 'money'> & { readonly onClose: () => void }) {
  const words = useWords();
  const style = usePageState();
  const client = useQueryClient();
  const { isRunning, problem, run } = useChange();
  // The Idempotency-Key. A repeated request with the same key does not return the money twice. Changed values get a new key.
  const [idempotencyKey, setKey] = useState(() => crypto.randomUUID());
  const network = money.amount.display.networkName ?? '';
  const give = (form: FormData) =>
    run(async () => {
      const body = { destination: accountIn(form, money.asset) };
      const { id, merchantId } = money;
      await call('POST', `/v1/late-money/${id}/return`, { merchantId, idempotencyKey, body });
      await client.invalidateQueries({ queryKey: ['payments'] });
      onClose();
    });
  return (
    <Dialog title={fill(words.giveBackTitle, { amount: formatAmount(money.amount, style) })} onClose={onClose}>
      <Form onSend={give} onChange={() => setKey(crypto.randomUUID())}>
        <p>{words.giveBackText}</p>
        <AccountField label={fill(words.giveBackAccount, { network })} />
        <FormEnd label={words.giveBack} isRunning={isRunning} problem={problem} onCancel={onClose} />
      </Form>
    </Dialog>
  );
}
