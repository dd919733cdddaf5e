import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Fill } from '../../shared/fill.tsx';
import { clamp, fill } from '../../shared/text.ts';
import { call } from '../api.ts';
import type { ListedMerchant, Merchant, SettlementDestination } from '../api-types.ts';
import { useAssets } from '../queries.ts';
import type { Strings } from '../strings/en.ts';
import { useWords } from '../words.ts';
import { AccountField, accountIn } from './account-field.tsx';
import { currentIn, Difference } from './difference.tsx';
import { Form } from './form.tsx';
import { MerchantFields } from './merchant-fields.tsx';
import { Dialog, Field, FormEnd } from './parts.tsx';
import { useChange } from './use-change.ts';

interface DialogProps {
  readonly merchant: Merchant;
  readonly onClose: () => void;
}

/** The merchant's values that somebody else has saved since the dialog was opened. */
type Current = Pick<ListedMerchant, 'name' | 'email'>;

export function EditDialog({ merchant, onClose }: DialogProps) {
  const words = useWords();
  const client = useQueryClient();
  const { isRunning, problem, run } = useChange();
  const [before] = useState<Current>({ name: merchant.name, email: merchant.email });
  const [seen, setSeen] = useState(before);
  const isConflict = seen !== before;
  const save = (form: FormData) =>
    run(async () => {
      const body = {
        merchantName: form.get('name'),
        merchantEmail: form.get('email'),
        ifUnchanged: { name: seen.name, email: seen.email },
      };
      try {
        await call('PATCH', `/v1/merchants/${merchant.id}`, { body });
      } catch (error) {
        // The person has now seen the present values, so the next attempt to save may overwrite them.
        setSeen(currentIn<Current>(error));
        return;
      } finally {
        await client.invalidateQueries({ queryKey: ['merchants'] });
      }
      onClose();
    });
  return (
    <Dialog title={<bdi>{clamp(merchant.name, 60)}</bdi>} onClose={onClose}>
      <Form onSend={save}>
        {isConflict && (
          <Difference
            rows={[
              { label: words.name, from: clamp(before.name, 80), to: clamp(seen.name, 80) },
              { label: words.contactEmail, from: clamp(before.email ?? '', 80), to: clamp(seen.email ?? '', 80) },
            ]}
          />
        )}
        <MerchantFields name={before.name} email={before.email ?? ''} />
        <FormEnd
          label={isConflict ? words.overwrite : words.save}
          isRunning={isRunning}
          problem={problem}
          onCancel={onClose}
        />
      </Form>
    </Dialog>
  );
}

const STATUS_TEXTS = {
  active: ['activateTitle', 'activateText', 'activate'],
  inactive: ['deactivateTitle', 'deactivateText', 'deactivate'],
  suspended: ['suspendTitle', 'suspendText', 'suspend'],
} as const satisfies Record<ListedMerchant['status'], readonly [keyof Strings, keyof Strings, keyof Strings]>;

export function StatusDialog({ merchant, to, onClose }: DialogProps & { readonly to: ListedMerchant['status'] }) {
  const words = useWords();
  const client = useQueryClient();
  const { isRunning, problem, run } = useChange();
  const [title, text, action] = STATUS_TEXTS[to];
  const save = () =>
    run(async () => {
      await call('PUT', `/v1/merchants/${merchant.id}/status`, { body: { status: to } });
      await client.invalidateQueries({ queryKey: ['merchants'] });
      onClose();
    });
  return (
    <Dialog title={<Fill text={words[title]} name={clamp(merchant.name, 40)} />} onClose={onClose}>
      <Form onSend={save}>
        <p>{words[text]}</p>
        <FormEnd label={words[action]} isRunning={isRunning} problem={problem} onCancel={onClose} />
      </Form>
    </Dialog>
  );
}

/** The dialog that adds a settlement destination. The first destination for an asset takes effect at once. */
export function AddDestinationDialog({ merchant, onClose }: DialogProps) {
  const words = useWords();
  const client = useQueryClient();
  const { isRunning, problem, run } = useChange();
  // One Idempotency-Key for all attempts with the same values. Changed values get a new key.
  const [idempotencyKey, setKey] = useState(() => crypto.randomUUID());
  const taken = new Set(merchant.settlements.crypto.map(({ asset }) => asset));
  const free = useAssets().filter(({ asset }) => !taken.has(asset));
  const add = (form: FormData) =>
    run(async () => {
      const asset = String(form.get('asset'));
      const destination = accountIn(form, asset);
      const body = { settlements: [{ asset, destination }] };
      const path = `/v1/merchants/${merchant.id}/settlements/crypto`;
      await call('POST', path, { body, idempotencyKey });
      await client.invalidateQueries({ queryKey: ['merchants'] });
      onClose();
    });
  return (
    <Dialog title={words.addDestination} onClose={onClose}>
      <Form onSend={add} onChange={() => setKey(crypto.randomUUID())}>
        <p>{words.addDestinationText}</p>
        <Field label={words.token}>
          {(id) => (
            <select id={id} name="asset" required>
              {free.map(({ asset, symbol, networkName }) => (
                <option key={asset} value={asset}>
                  {symbol} · {networkName}
                </option>
              ))}
            </select>
          )}
        </Field>
        <AccountField label={words.accountAddress} />
        <FormEnd label={words.addDestination} isRunning={isRunning} problem={problem} onCancel={onClose} />
      </Form>
    </Dialog>
  );
}

/** The destination's values that somebody else has saved since the dialog was opened. */
type CurrentDestination = ReturnType<typeof seenIn>;

/** The values that a person has seen of a destination, to send with its change. */
export function seenIn({ destination, pendingDestination }: SettlementDestination) {
  return { destination, pendingDestination: pendingDestination ?? null };
}

export function ChangeDestinationDialog({
  merchantId,
  destination,
  onClose,
}: {
  readonly merchantId: string;
  readonly destination: SettlementDestination;
  readonly onClose: () => void;
}) {
  const words = useWords();
  const client = useQueryClient();
  const { isRunning, problem, run } = useChange();
  const [before] = useState<CurrentDestination>(() => seenIn(destination));
  const [seen, setSeen] = useState(before);
  const isConflict = seen !== before;
  const chain = destination.asset.split('/')[0] ?? '';
  const save = (form: FormData) =>
    run(async () => {
      const path = `/v1/merchants/${merchantId}/settlements/crypto/${destination.id}`;
      try {
        await call('PUT', path, { body: { destination: accountIn(form, destination.asset), ifUnchanged: seen } });
      } catch (error) {
        // The person has now seen the present values, so the next attempt to save may overwrite them.
        setSeen(currentIn<CurrentDestination>(error));
        return;
      } finally {
        await client.invalidateQueries({ queryKey: ['merchants'] });
      }
      onClose();
    });
  return (
    <Dialog title={words.changeDestination} onClose={onClose}>
      <Form onSend={save}>
        <p>{words.changeDestinationText}</p>
        {isConflict && (
          <Difference
            rows={[
              { label: words.accountAddress, from: before.destination, to: seen.destination },
              {
                label: fill(words.newAccount, { network: chain }),
                from: before.pendingDestination ?? '–',
                to: seen.pendingDestination ?? '–',
              },
            ]}
          />
        )}
        <AccountField label={fill(words.newAccount, { network: chain })} />
        <FormEnd
          label={isConflict ? words.overwrite : words.save}
          isRunning={isRunning}
          problem={problem}
          onCancel={onClose}
        />
      </Form>
    </Dialog>
  );
}
