import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { SCOPES } from '../../../../src/domain/scope.ts';
import { Fill } from '../../shared/fill.tsx';
import { clamp } from '../../shared/text.ts';
import { call } from '../api.ts';
import type { ApiKey } from '../api-types.ts';
import { useSession } from '../queries.ts';
import { useWords } from '../words.ts';
import { Form } from './form.tsx';
import { MerchantField } from './merchant-field.tsx';
import { Dialog, Field, FormEnd } from './parts.tsx';
import { useChange } from './use-change.ts';

interface Made {
  readonly apiKey: { readonly secret: string };
}

interface DialogProps {
  readonly onClose: () => void;
  readonly onMade: (secret: string) => void;
}

export function KeyDialog({ onClose, onMade }: DialogProps) {
  const words = useWords();
  const client = useQueryClient();
  const { rights } = useSession();
  const { isRunning, problem, run } = useChange();
  const own = SCOPES.filter((scope) => rights.includes(scope));
  // Only a person with all rights can choose all scopes at once.
  const mayAll = own.length === SCOPES.length;
  const [isAll, setAll] = useState(false);
  const add = (form: FormData) =>
    run(async () => {
      const merchantId = form.get('merchant');
      const addresses = String(form.get('addresses') ?? '').split(/[\s,]+/);
      const given = addresses.filter((address) => address !== '');
      const body = {
        label: form.get('label'),
        scopes: isAll ? null : form.getAll('scope'),
        merchantIds: merchantId ? [merchantId] : null,
        addresses: given.length === 0 ? null : given,
      };
      const made = await call<Made>('POST', '/v1/api-keys', { body });
      await client.invalidateQueries({ queryKey: ['keys'] });
      onMade(made.apiKey.secret);
    });
  return (
    <Dialog title={words.addKey} onClose={onClose}>
      <Form onSend={add}>
        <Field label={words.keyLabel}>
          {(id) => <input id={id} name="label" required maxLength={100} autoComplete="off" />}
        </Field>
        <fieldset className="choices scopes">
          <legend>{words.keyScopes}</legend>
          {mayAll && (
            <label>
              <input type="checkbox" checked={isAll} onChange={() => setAll(!isAll)} />
              <span>{words.everything}</span>
            </label>
          )}
          {!isAll &&
            own.map((scope) => (
              <label key={scope}>
                <input type="checkbox" name="scope" value={scope} defaultChecked={scope.startsWith('payments:')} />
                <span>
                  {words[`scope ${scope}`]} <code dir="ltr">{scope}</code>
                </span>
              </label>
            ))}
        </fieldset>
        <MerchantField label={words.merchant} all={words.anyMerchant} />
        <Field label={words.keyAddresses}>
          {(id) => (
            <input
              id={id}
              name="addresses"
              dir="ltr"
              autoComplete="off"
              placeholder="203.0.113.0/28"
              maxLength={2000}
            />
          )}
        </Field>
        <FormEnd label={words.addKey} isRunning={isRunning} problem={problem} onCancel={onClose} />
      </Form>
    </Dialog>
  );
}

const OVERLAPS = [
  { seconds: 86_400, word: 'overlapDay' },
  { seconds: 3_600, word: 'overlapHour' },
  { seconds: 604_800, word: 'overlapWeek' },
  { seconds: 0, word: 'overlapNone' },
] as const;

export function RotateDialog({ apiKey, onClose, onMade }: DialogProps & { readonly apiKey: ApiKey }) {
  const words = useWords();
  const client = useQueryClient();
  const { isRunning, problem, run } = useChange();
  const rotate = (form: FormData) =>
    run(async () => {
      const body = { overlapSeconds: Number(form.get('overlap')) };
      const made = await call<Made>('POST', `/v1/api-keys/${apiKey.id}/rotate`, { body });
      await client.invalidateQueries({ queryKey: ['keys'] });
      onMade(made.apiKey.secret);
    });
  return (
    <Dialog title={<Fill text={words.rotateTitle} name={clamp(apiKey.label, 40)} />} onClose={onClose}>
      <Form onSend={rotate}>
        <p>{words.rotateText}</p>
        <Field label={words.overlap}>
          {(id) => (
            <select id={id} name="overlap">
              {OVERLAPS.map(({ seconds, word }) => (
                <option key={seconds} value={seconds}>
                  {words[word]}
                </option>
              ))}
            </select>
          )}
        </Field>
        <FormEnd label={words.rotate} isRunning={isRunning} problem={problem} onCancel={onClose} />
      </Form>
    </Dialog>
  );
}
