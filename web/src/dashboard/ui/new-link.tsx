import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { AcceptedAssets } from '../../../../src/domain/accepted-assets.ts';
import type { PayableCurrency } from '../../../../src/domain/currency.ts';
import { MAX_LINK_PICTURE_BYTES } from '../../../../src/domain/picture.ts';
import { typedUnits } from '../../../../src/domain/typed-amount.ts';
import { currenciesOf } from '../../shared/currencies.ts';
import { call, readMode } from '../api.ts';
import type { PaymentLink } from '../api-types.ts';
import { currenciesQuery } from '../queries.ts';
import { usePageState, useWords } from '../words.ts';
import { AcceptedSwitches, useMerchantAccepted } from './accepted-assets.tsx';
import { Form } from './form.tsx';
import { Dialog, Field, FormEnd } from './parts.tsx';
import { base64In, dataUrlOf, fileIn, PICTURE_TYPES } from './picture.ts';
import { useChange } from './use-change.ts';

interface NewLinkProps {
  readonly merchantId: string;
  readonly onClose: () => void;
  readonly onMade: (link: PaymentLink) => void;
}

export function NewLinkDialog({ merchantId, onClose, onMade }: NewLinkProps) {
  const words = useWords();
  const { data: ofMerchant } = useQuery(currenciesQuery(merchantId));
  const codes = ofMerchant?.currencies.map(({ code }) => code);
  const currencies = currenciesOf(usePageState().currencies, readMode(), codes);
  const client = useQueryClient();
  const { isRunning, problem, run } = useChange();
  const [kind, setKind] = useState<'fixed' | 'chosen'>('fixed');
  const [accepted, setAccepted] = useState<AcceptedAssets>(null);
  const limit = useMerchantAccepted(merchantId);
  const [refusal, setRefusal] = useState<string>();
  // One Idempotency-Key for all attempts of this dialog, so that a lost answer does not create a second link.
  const [idempotencyKey] = useState(() => crypto.randomUUID());
  const add = async (form: FormData) => {
    const price = priceIn(form, kind, currencies);
    const isTooLarge = (fileIn(form, 'picture')?.size ?? 0) > MAX_LINK_PICTURE_BYTES;
    setRefusal(price === undefined ? words.badAmount : isTooLarge ? words.badPicture : undefined);
    if (price === undefined || isTooLarge) return;
    const body = { ...price, ...(await termsIn(form)), ...(accepted !== null && { acceptedAssets: accepted }) };
    await run(async () => {
      const made = await call<{ paymentLink: PaymentLink }>('POST', '/v1/payment-links', {
        merchantId,
        body,
        idempotencyKey,
      });
      await client.invalidateQueries({ queryKey: ['links'] });
      onMade(made.paymentLink);
    });
  };
  const amount = (name: string, label: string) => (
    <Field label={label}>
      {(id) => <input id={id} name={name} inputMode="decimal" required maxLength={30} autoComplete="off" />}
    </Field>
  );
  return (
    <Dialog title={words.addLink} onClose={onClose}>
      <Form onSend={(form) => void add(form)}>
        <Field label={words.linkFor}>{(id) => <input id={id} name="description" required maxLength={500} />}</Field>
        <fieldset className="choices">
          <legend>{words.price}</legend>
          {(['fixed', 'chosen'] as const).map((each) => (
            <label key={each}>
              <input type="radio" name="kind" checked={each === kind} onChange={() => setKind(each)} />
              <span>{each === 'fixed' ? words.priceFixed : words.priceChosen}</span>
            </label>
          ))}
        </fieldset>
        <div className="limits">
          <Field label={words.currency}>
            {(id) => (
              <select id={id} name="currency">
                {currencies.map(({ code }) => (
                  <option key={code}>{code}</option>
                ))}
              </select>
            )}
          </Field>
          {kind === 'fixed' ? (
            amount('amount', words.amount)
          ) : (
            <>
              {amount('minimum', words.minimum)}
              {amount('maximum', words.maximum)}
            </>
          )}
        </div>
        <div className="limits">
          <Field label={words.stock}>
            {(id) => <input id={id} name="stock" type="number" min="1" max="10000" step="1" />}
          </Field>
          <Field label={words.linkExpires}>{(id) => <input id={id} name="expires" type="datetime-local" />}</Field>
        </div>
        <Field label={words.picture}>
          {(id) => <input id={id} name="picture" type="file" accept={PICTURE_TYPES} />}
        </Field>
        <details className="accepted-more">
          <summary>{words.acceptedAssets}</summary>
          <AcceptedSwitches list={accepted} limit={limit} onChange={setAccepted} />
        </details>
        <FormEnd label={words.addLink} isRunning={isRunning} problem={refusal ?? problem} onCancel={onClose} />
      </Form>
    </Dialog>
  );
}

function priceIn(form: FormData, kind: 'fixed' | 'chosen', currencies: readonly PayableCurrency[]): object | undefined {
  const currency = String(form.get('currency'));
  const decimals = currencies.find(({ code }) => code === currency)?.decimals;
  if (decimals === undefined) return undefined;
  const amountOf = (name: string) => {
    const value = typedUnits(String(form.get(name) ?? ''), decimals);
    return value === undefined || value === 0n ? undefined : { unit: `iso4217/${currency}`, value: value.toString() };
  };
  if (kind === 'fixed') {
    const amount = amountOf('amount');
    return amount && { amount };
  }
  const [minimum, maximum] = [amountOf('minimum'), amountOf('maximum')];
  return minimum && maximum && { minimum, maximum };
}

async function termsIn(form: FormData): Promise<object> {
  const stock = String(form.get('stock') ?? '');
  const expires = String(form.get('expires') ?? '');
  const picture = fileIn(form, 'picture');
  return {
    description: form.get('description'),
    ...(stock !== '' && { stock: Number(stock) }),
    ...(expires !== '' && { expiresAt: Math.floor(new Date(expires).getTime() / 1000) }),
    ...(picture !== undefined && { picture: base64In(await dataUrlOf(picture)) }),
  };
}
