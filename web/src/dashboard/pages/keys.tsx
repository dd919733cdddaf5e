import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Fill } from '../../shared/fill.tsx';
import { isTestKey, openReference } from '../../shared/reference-key.ts';
import { clamp, fill } from '../../shared/text.ts';
import { call, queryText } from '../api.ts';
import type { ApiKey, ApiKeyPage } from '../api-types.ts';
import { useMay, useMerchantNames } from '../queries.ts';
import type { Strings } from '../strings/en.ts';
import { Form } from '../ui/form.tsx';
import { KeyDialog, RotateDialog } from '../ui/key-dialogs.tsx';
import { ListState, More } from '../ui/list-state.tsx';
import { usePages } from '../ui/pages-list.ts';
import { Dialog, FormEnd, PageHead, Time, useTitle } from '../ui/parts.tsx';
import { SecretDialog } from '../ui/secret-dialog.tsx';
import { Tabs } from '../ui/tabs.tsx';
import { useChange } from '../ui/use-change.ts';
import { useWords } from '../words.ts';

const KEY_WORDS = {
  active: ['keyActive', 'badge-succeeded'],
  expired: ['keyExpired', 'badge-expired'],
  revoked: ['keyRevoked', 'badge-failed'],
} as const satisfies Record<ApiKey['status'], readonly [keyof Strings, string]>;

/**
 * The page of API keys. It resembles the page of webhooks, but its rows, dialogs and filters differ: a common component would only
 * pass them on.
 */
export function KeysPage() {
  const words = useWords();
  const mayIssue = useMay('keys:write');
  const [isAdding, setAdding] = useState(false);
  const [secret, setSecret] = useState<string>();
  const [showsEnded, setShowsEnded] = useState(false);
  useTitle(words.apiKeys);
  const list = usePages<ApiKeyPage>(
    ['keys', showsEnded],
    (cursor) => `/v1/api-keys${queryText({ limit: 100, cursor, ...(!showsEnded && { inForce: 'true' }) })}`,
  );
  const keys = list.data?.pages.flatMap((page) => page.apiKeys);
  return (
    <>
      <PageHead title={words.developers}>
        {mayIssue && (
          <button type="button" className="main" onClick={() => setAdding(true)}>
            {words.addKey}
          </button>
        )}
      </PageHead>
      <Tabs of="developers" />
      <ListState error={list.error} count={keys?.length} empty={words.noKeys} />
      <ul className="plain-list keys" aria-label={words.apiKeys}>
        {keys?.map((key) => (
          <KeyRow key={key.id} apiKey={key} onSecret={setSecret} />
        ))}
      </ul>
      <More list={list} />
      <label className="check below">
        <input type="checkbox" checked={showsEnded} onChange={() => setShowsEnded(!showsEnded)} />
        <span>{words.showEnded}</span>
      </label>
      {isAdding && (
        <KeyDialog
          onClose={() => setAdding(false)}
          onMade={(made) => {
            setAdding(false);
            setSecret(made);
          }}
        />
      )}
      {secret !== undefined && (
        <SecretDialog
          title={words.keySecretTitle}
          text={words.keySecretText}
          secret={secret}
          onClose={() => setSecret(undefined)}
        >
          {isTestKey(secret) && (
            <button type="button" className="quiet" onClick={() => openReference(secret)}>
              {words.referenceWithKey}
            </button>
          )}
        </SecretDialog>
      )}
    </>
  );
}

interface KeyRowProps {
  readonly apiKey: ApiKey;
  readonly onSecret: (secret: string) => void;
}

function KeyRow({ apiKey, onSecret }: KeyRowProps) {
  const words = useWords();
  const mayChange = useMay('keys:write');
  const [asked, setAsked] = useState<'rotate' | 'revoke'>();
  const { label, hint, status, scopes, merchantIds, addresses, expiresAt, lastUsedAt } = apiKey;
  const [word, style] = KEY_WORDS[status];
  const names = useMerchantNames(merchantIds ?? []);
  const nameOf = (id: string) => clamp(names.get(id) ?? id, 30);
  const limits = [
    scopes === null ? words.everything : scopes.join(', '),
    ...(merchantIds === null ? [] : [merchantIds.map(nameOf).join(', ')]),
    ...(addresses === null ? [] : [addresses.join(', ')]),
  ];
  const close = () => setAsked(undefined);
  return (
    <li>
      <span className="person-names">
        <span>
          <bdi className="strong">{clamp(label, 60)}</bdi>{' '}
          <code className="soft" dir="ltr">
            …{hint}
          </code>
        </span>
        <span className="soft small">{clamp(limits.join(' · '), 160)}</span>
        <span className="soft small">
          {words.lastUsed} {lastUsedAt === null ? words.never : <Time at={lastUsedAt} />}
          {expiresAt !== null && (
            <>
              {' · '}
              {words.ends} <Time at={expiresAt} />
            </>
          )}
        </span>
      </span>
      <span className={`badge ${style}`}>{words[word]}</span>
      {mayChange && status === 'active' && (
        <span className="row-actions">
          <button type="button" className="quiet small" onClick={() => setAsked('rotate')}>
            {words.rotate}
          </button>
          <button type="button" className="quiet small" onClick={() => setAsked('revoke')}>
            {words.revoke}
          </button>
        </span>
      )}
      {asked === 'rotate' && (
        <RotateDialog
          apiKey={apiKey}
          onClose={close}
          onMade={(made) => {
            close();
            onSecret(made);
          }}
        />
      )}
      {asked === 'revoke' && <RevokeDialog apiKey={apiKey} onClose={close} />}
    </li>
  );
}

function RevokeDialog({ apiKey, onClose }: { readonly apiKey: ApiKey; readonly onClose: () => void }) {
  const words = useWords();
  const client = useQueryClient();
  const { isRunning, problem, run } = useChange();
  const revoke = () =>
    run(async () => {
      await call('DELETE', `/v1/api-keys/${apiKey.id}`);
      await client.invalidateQueries({ queryKey: ['keys'] });
      onClose();
    });
  return (
    <Dialog title={<Fill text={words.revokeTitle} name={clamp(apiKey.label, 40)} />} onClose={onClose}>
      <Form onSend={revoke}>
        <p>{fill(words.revokeText, { hint: `…${apiKey.hint}` })}</p>
        <FormEnd label={words.revoke} isRunning={isRunning} problem={problem} onCancel={onClose} />
      </Form>
    </Dialog>
  );
}
