import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { clamp } from '../../shared/text.ts';
import { call } from '../api.ts';
import type { WebhookEndpoint } from '../api-types.ts';
import { Form } from '../ui/form.tsx';
import { ListState } from '../ui/list-state.tsx';
import { Dialog, EndpointBadge, Field, FormEnd, PageHead, useTitle } from '../ui/parts.tsx';
import { SecretDialog } from '../ui/secret-dialog.tsx';
import { Tabs } from '../ui/tabs.tsx';
import { useChange } from '../ui/use-change.ts';
import { useWords } from '../words.ts';

export function WebhooksPage() {
  const words = useWords();
  const [isAdding, setAdding] = useState(false);
  const [secret, setSecret] = useState<string>();
  useTitle(words.webhooks);
  const { data, error } = useQuery({
    queryKey: ['webhooks'],
    queryFn: ({ signal }) => call<{ webhookEndpoints: WebhookEndpoint[] }>('GET', '/v1/webhook-endpoints', { signal }),
  });
  return (
    <>
      <PageHead title={words.developers}>
        <button type="button" className="main" onClick={() => setAdding(true)}>
          {words.addEndpoint}
        </button>
      </PageHead>
      <Tabs of="developers" />
      <ListState error={error} count={data?.webhookEndpoints.length} empty={words.noEndpoints} />
      <ul className="plain-list" aria-label={words.webhooks}>
        {data?.webhookEndpoints.map(({ id, url, events, status }) => (
          <li key={id}>
            <span className="person-names">
              <Link to="/webhooks/$endpointId" params={{ endpointId: id }}>
                <bdi>{clamp(url, 100)}</bdi>
              </Link>
              <code className="soft" dir="ltr">
                {events.join(', ')}
              </code>
            </span>
            <EndpointBadge status={status} />
          </li>
        ))}
      </ul>
      {isAdding && (
        <AddDialog
          onClose={() => setAdding(false)}
          onAdded={(made) => {
            setAdding(false);
            setSecret(made);
          }}
        />
      )}
      {secret !== undefined && (
        <SecretDialog
          title={words.secretTitle}
          text={words.secretText}
          secret={secret}
          onClose={() => setSecret(undefined)}
        />
      )}
    </>
  );
}

interface AddProps {
  readonly onClose: () => void;
  readonly onAdded: (secret: string) => void;
}

function AddDialog({ onClose, onAdded }: AddProps) {
  const words = useWords();
  const client = useQueryClient();
  const { isRunning, problem, run } = useChange();
  const add = (form: FormData) =>
    run(async () => {
      const body = { url: String(form.get('url')).trim(), events: ['*'] };
      const made = await call<{ webhookEndpoint: { secret: string } }>('POST', '/v1/webhook-endpoints', { body });
      await client.invalidateQueries({ queryKey: ['webhooks'] });
      onAdded(made.webhookEndpoint.secret);
    });
  return (
    <Dialog title={words.addEndpoint} onClose={onClose}>
      <Form onSend={add}>
        <Field label={words.endpointUrl}>
          {(id) => <input id={id} name="url" type="url" required maxLength={2048} dir="ltr" autoComplete="off" />}
        </Field>
        <FormEnd label={words.addEndpoint} isRunning={isRunning} problem={problem} onCancel={onClose} />
      </Form>
    </Dialog>
  );
}
