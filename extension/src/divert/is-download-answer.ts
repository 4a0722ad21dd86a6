/** What browsers show in a page where nothing says that it is to be saved. */
const SHOWN =
  /^(text|image|audio|video|font|multipart|model)\/|[/+](xml|json)$|^application\/(pdf|javascript|ecmascript|xhtml|x-javascript|wasm|manifest|x-xpinstall|vnd\.mozilla)/;

/** Whether a browser saves this answer to a click, by its head; where that is open, it is not said to be one. */
export function isDownloadAnswer(headers: Headers): boolean {
  const disposition = headers.get('content-disposition') ?? '';
  if (/^\s*attachment\b/i.test(disposition)) return true;
  const type = (headers.get('content-type') ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';
  return type !== '' && disposition === '' && !SHOWN.test(type);
}
