// Images that spans hold: small in the step that they came with, whole in a tab of their own.
import { useQuery } from "@tanstack/react-query";
import { useEffect, useMemo } from "react";
import { report } from "./answers";
import { getFile, type Schema } from "./api";
import { formatBytes } from "./parts";

export interface ImagesParts {
  images: Schema["TraceImage"][];
  /** Where the API has their trace. */
  path: string;
  /** That of a trace of the store. */
  project?: string;
}

export function Images({ images, path, project }: ImagesParts) {
  if (!images.length) return null;
  return (
    <div className="attempts">
      <h3>images</h3>
      {report ? (
        <span className="dim">{images.length} in the trace; this file does not hold them</span>
      ) : (
        <div className="badges">{images.map((image) => <Thumbnail key={image.id} image={image} path={path} project={project} />)}</div>
      )}
    </div>
  );
}

function Thumbnail({ image, path, project }: Omit<ImagesParts, "images"> & { image: Schema["TraceImage"] }) {
  // A browser sends no token for an image of a page: it is requested as everything else is.
  const { data, error } = useQuery({
    queryKey: [path, image.id, project],
    queryFn: () => getFile(`${path}/images/${image.id}`, project === undefined ? {} : { project }),
    staleTime: Infinity,
    retry: false,
  });
  const address = useMemo(() => data && URL.createObjectURL(data), [data]);
  useEffect(() => () => void (address && URL.revokeObjectURL(address)), [address]);
  const text = `${image.media_type}, ${formatBytes(image.bytes)}, of ${image.attribute}`;
  if (!address) return <span className="dim">{error ? error.message : text}</span>;
  return (
    <a className="thumbnail" href={address} target="_blank" title={text}>
      <img src={address} alt={`Image: ${text}`} />
    </a>
  );
}
