import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.lucene.analysis.Analyzer;
import org.apache.lucene.analysis.core.WhitespaceTokenizer;
import org.apache.lucene.analysis.payloads.DelimitedPayloadTokenFilter;
import org.apache.lucene.analysis.payloads.FloatEncoder;
import org.apache.lucene.analysis.payloads.PayloadHelper;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.FeatureField;
import org.apache.lucene.document.Field;
import org.apache.lucene.document.StoredField;
import org.apache.lucene.document.TextField;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.index.Term;
import org.apache.lucene.queries.function.FunctionScoreQuery;
import org.apache.lucene.queries.payloads.PayloadDecoder;
import org.apache.lucene.queries.payloads.PayloadScoreQuery;
import org.apache.lucene.queries.payloads.SumPayloadFunction;
import org.apache.lucene.queries.spans.SpanTermQuery;
import org.apache.lucene.search.BooleanClause;
import org.apache.lucene.search.BooleanQuery;
import org.apache.lucene.search.DoubleValuesSource;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.Query;
import org.apache.lucene.search.ScoreDoc;
import org.apache.lucene.store.ByteBuffersDirectory;

/**
 * Indexes documents and searches them as Elasticsearch and OpenSearch do (features) or as Solr does (payloads).
 *
 * Arguments: features or payloads, documents, queries. A line of documents is a number, a tab and `word|weight`
 * separated by spaces; so is a line of queries. Prints the number of the query, that of the document and the score.
 */
public class SearchExport {
    /** Lucene's own FLOAT_DECODER reads from the start of the array, whatever the offset; Solr's does not. */
    private static final PayloadDecoder SOLRS_DECODER =
        payload -> payload == null ? 1 : PayloadHelper.decodeFloat(payload.bytes, payload.offset);

    public static void main(String[] given) throws IOException {
        boolean features = given[0].equals("features");
        Analyzer payloads = new Analyzer() {
            @Override
            protected TokenStreamComponents createComponents(String field) {
                WhitespaceTokenizer words = new WhitespaceTokenizer();
                return new TokenStreamComponents(
                    words, new DelimitedPayloadTokenFilter(words, '|', new FloatEncoder()));
            }
        };
        ByteBuffersDirectory directory = new ByteBuffersDirectory();
        try (IndexWriter writer = new IndexWriter(directory, new IndexWriterConfig(payloads));
             BufferedReader lines = Files.newBufferedReader(Path.of(given[1]), StandardCharsets.UTF_8)) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                String[] parts = line.split("\t");
                Document document = new Document();
                document.add(new StoredField("number", parts[0]));
                if (features) {
                    for (String token : parts[1].split(" ")) {
                        int end = token.lastIndexOf('|');
                        float weight = Float.parseFloat(token.substring(end + 1));
                        document.add(new FeatureField("words", token.substring(0, end), weight));
                    }
                } else {
                    document.add(new TextField("words", parts[1], Field.Store.NO));
                }
                writer.addDocument(document);
            }
        }
        try (DirectoryReader reader = DirectoryReader.open(directory)) {
            IndexSearcher searcher = new IndexSearcher(reader);
            for (String line : Files.readAllLines(Path.of(given[2]), StandardCharsets.UTF_8)) {
                String[] parts = line.split("\t");
                BooleanQuery.Builder sum = new BooleanQuery.Builder();
                for (String token : parts[1].split(" ")) {
                    int end = token.lastIndexOf('|');
                    String word = token.substring(0, end);
                    float weight = Float.parseFloat(token.substring(end + 1));
                    sum.add(features ? FeatureField.newLinearQuery("words", word, weight) : payload(word, weight),
                        BooleanClause.Occur.SHOULD);
                }
                for (ScoreDoc hit : searcher.search(sum.build(), 10).scoreDocs) {
                    String number = searcher.doc(hit.doc).get("number");
                    System.out.println(parts[0] + "\t" + number + "\t" + hit.score);
                }
            }
        }
    }

    /** As Solr's {!boost} around {!payload_score}: a BoostQuery would do nothing, as payloads alone are the score. */
    private static Query payload(String word, float weight) {
        SpanTermQuery term = new SpanTermQuery(new Term("words", word));
        Query sum = new PayloadScoreQuery(term, new SumPayloadFunction(), SOLRS_DECODER, false);
        return FunctionScoreQuery.boostByValue(sum, DoubleValuesSource.constant(weight));
    }
}
