import { expect, it } from 'vitest';
import { isSigned } from './signed-address.ts';

it.each([
  ['Amazon S3', 'X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Expires=300&X-Amz-Signature=ab'],
  ['Amazon S3, in the older way', 'AWSAccessKeyId=A&Expires=1&Signature=a%3D'],
  ['CloudFront', 'Policy=a&Signature=b&Key-Pair-Id=K'],
  ['Google Cloud Storage', 'X-Goog-Expires=300&X-Goog-Signature=ab'],
  ['Azure', 'sp=r&se=2026-11-21T00%3A00%3A00Z&sv=2024&sig=a%3D'],
  ['GitHub', 'response-content-type=x&jwt=a.b.c'],
  ['Aliyun', 'OSSAccessKeyId=A&Expires=1&Signature=a'],
  ['Aliyun, in the newer way', 'x-oss-date=1&x-oss-signature=a'],
  ['Tencent', 'q-sign-algorithm=sha1&q-signature=a'],
  ['Akamai', 'hdnts=exp=1~hmac=a'],
  ['Akamai, by its usual name', '__token__=exp=1~hmac=a'],
  ['SharePoint', 'tempauth=a'],
  ['Backblaze', 'Authorization=a'],
  ['nginx', 'md5=a&expires=1'],
  ['somebody who gives tokens', 'access_token=a'],
])('knows what %s signs', (_who, query) => {
  expect(isSigned(`https://cdn.example/a.zip?${query}`)).toBe(true);
});

it.each([
  'https://cdn.example/a.zip',
  'https://cdn.example/signature=1/a.zip',
  'https://cdn.example/a.zip?version=2&design=x&author=y&assign=z',
  'https://cdn.example/a.zip?from=x.example/?sign',
  'https://cdn.example/a.zip#?sig=1',
])('takes %s for what anybody may ask for', (url) => {
  expect(isSigned(url)).toBe(false);
});
